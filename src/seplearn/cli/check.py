"""The command that compares a table with the rows that a model was fitted to."""

from __future__ import annotations

import click

from seplearn._numerals import count
from seplearn.cli.cells import missing_option
from seplearn.cli.lines import say, say_json
from seplearn.cli.model_rows import feature_batches
from seplearn.cli.tables import open_model
from seplearn.cli.text import shortened, wrapped_table
from seplearn.explain.drift import (
    LARGE,
    UNLIKE,
    Drift,
    RowCounts,
    check_limits,
    count_rows,
    drift_of,
    n_training_rows,
    warn_of_weights,
)
from seplearn.explain.subject import Subject


@click.command()
@click.argument("model")
@click.argument("table")
@click.option(
    "--psi",
    default=LARGE,
    show_default=True,
    help="Population stability index above which a feature has drifted.",
)
@click.option(
    "--unlike",
    default=UNLIKE,
    show_default=True,
    help="Share of rows that may have values unlike all training values.",
)
@click.option("--json", "as_json", is_flag=True, help="All numbers as JSON.")
@missing_option
@click.pass_context
def check(
    ctx: click.Context, model: str, table: str, psi: float, unlike: float, as_json: bool,
    missing: tuple[str, ...],
) -> None:  # fmt: skip
    """Say whether the rows of TABLE are like those MODEL was fitted to.

    Compared are ranges, levels, shares of values and missing values; the training table is not
    needed. The table is read in parts, so it may be larger than the memory. The exit code is 0 if
    nothing has drifted, 1 if something has, and 2 if the table cannot be read.

    \b
    seplearn check rent.tsl new.csv && seplearn predict rent.tsl new.csv -o rents.csv
    """  # noqa: D301
    check_limits(psi, unlike)
    estimator = open_model(model)
    subject = Subject.of_any(estimator)
    total: RowCounts | None = None
    for batch in feature_batches(estimator, table, (), missing):
        own = count_rows(subject, batch.features)
        total = own if total is None else total + own
    if total is None or total.n_rows == 0:
        raise ValueError(f"{table} has no rows")
    warn_of_weights(estimator)
    drift = drift_of(subject, total, n_training_rows(estimator), psi=psi, unlike=unlike)
    if as_json:
        say_json(_as_json(drift))
    else:
        say(_text(drift))
    ctx.exit(1 if drift.has_drifted else 0)


def _as_json(drift: Drift) -> dict[str, object]:
    columns = {name: list(values) for name, values in drift._columns().items()}
    rows = [
        {name: value if isinstance(value, str) else float(value) for name, value in row}
        for row in (
            zip(columns, values, strict=True) for values in zip(*columns.values(), strict=True)
        )
    ]
    return {"rows": drift.n_rows, "has_drifted": drift.has_drifted, "features": rows}


def _text(drift: Drift) -> str:
    """A line of every feature that is not as it was, those that have drifted first."""
    pairs = list(zip(drift.verdicts, drift.names, drift.reasons, strict=True))
    rows = [
        (word, shortened(name), reason)
        for wanted in ("drift", "watch")
        for word, name, reason in pairs
        if word == wanted
    ]
    n_drifted = drift.verdicts.count("drift")
    of_all = f"of {count(len(pairs), 'feature')}, in {count(drift.n_rows, 'row')}"
    head = f"{n_drifted or 'none'} {of_all}, {'has' if n_drifted == 1 else 'have'} drifted"
    return f"{head}\n\n{wrapped_table(('verdict', 'feature', 'why'), rows)}" if rows else head
