"""``seplearn fit``: from a table to a model file."""

from __future__ import annotations

import glob
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from seplearn._numerals import count
from seplearn.cli.asked import (
    TASKS,
    asked_estimator,
    asked_estimator_of_kind,
    asked_offset,
    check_exposure,
    given_options,
    look_at_outcomes,
)
from seplearn.cli.cells import (
    NumberReader,
    as_plain_text,
    empty_as_missing,
    missing_option,
    texts_as_missing,
)
from seplearn.cli.lines import is_terminal, note, printable, say
from seplearn.cli.model_rows import with_target
from seplearn.cli.origin import origin
from seplearn.cli.parameters import TwoSections, directions, estimator_options
from seplearn.cli.tables import (
    PIPE,
    check_columns,
    check_output,
    column_names,
    in_a_file,
    opened,
    read_columns,
    save_model,
)
from seplearn.cli.text import model_text
from seplearn.cli.training import Columns, Roles, read_training, refuse_dates, training_columns
from seplearn.cli.training_files import open_training_files
from seplearn.estimators.classifier import TSLClassifier
from seplearn.estimators.tsl import TSLRegressor
from seplearn.model.evaluation import ClassEvaluation, Evaluation
from seplearn.table.files import DATE, RowFiles, file_paths


@click.command(cls=TwoSections)
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True)
@click.option("--target", required=True, help="The column to predict.")
@click.option(
    "--task",
    type=click.Choice(TASKS),
    default="auto",
    show_default=True,
    help="What the target is: numbers, classes, or counts (--loss poisson). auto takes texts and "
    "truth values as classes and numbers as numbers.",
)
@click.option("-o", "--output", help="The model file to write, such as model.tsl.")
@click.option(
    "--exclude", multiple=True, metavar="COLUMN", help="Leave a column out; may be repeated."
)
@click.option(
    "--categorical",
    multiple=True,
    metavar="COLUMN",
    help="Take a column's values as levels without order, as text columns are; may be repeated.",
)
@missing_option
@click.option("--weight", metavar="COLUMN", help="How often each row counts.")
@click.option(
    "--exposure",
    metavar="COLUMN",
    help="Time, area or number of people that a count or an amount was observed over: its log is "
    "the offset. Curves then tell of rates.",
)
@click.option(
    "--offset",
    metavar="COLUMN",
    help="Added to the sum of the curves (of two classes the log-odds of the second), and not "
    "learned.",
)
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="Rows of rare classes count more, so that all classes count the same; probabilities are "
    "then those of such a table.",
)
@click.option(
    "--monotone",
    multiple=True,
    metavar="COLUMN=up|down",
    help="The prediction may only rise or only fall with the column; may be repeated.",
)
@click.option(
    "--validation",
    default="0.2",
    show_default=True,
    metavar="SHARE|TABLE",
    help="Rows on which the error is measured: a share of TABLE to hold out, or another table. The "
    "model that is saved is fitted to all rows of TABLE. 0 measures no error.",
)
@click.option(
    "--date",
    metavar="TEXT|now",
    help="A date to remember in the model; without it what SOURCE_DATE_EPOCH says, if anything, so "
    "that the same fit remembers the same.",
)
@click.option(
    "--hash-table", is_flag=True, help="Remember the SHA-256 of the file TABLE in the model."
)
@click.option("--quiet", is_flag=True, help="No progress bar; what was fitted is told.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Progress in lines where there is no terminal for a bar."
)
@estimator_options
def fit(
    tables: tuple[str, ...], target: str, task: str, output: str | None, exclude: tuple[str, ...],
    categorical: tuple[str, ...], missing: tuple[str, ...], weight: str | None,
    exposure: str | None, offset: str | None, class_weight: str | None,
    monotone: tuple[str, ...], validation: str, date: str | None, hash_table: bool, quiet: bool,
    verbose: bool, **parameters: Any,
) -> None:  # fmt: skip
    """Fit a model to TABLE and say what it found.

    A target of texts or truth values makes a classifier, of two classes or more; --task decides
    otherwise.

    \b
    seplearn fit flats.csv --target rent -o rent.tsl
    seplearn fit flats.csv --target rent --stages 2 --monotone area=up
    seplearn fit policies.csv --target claims --task count --exposure years
    seplearn fit 'part-*.parquet' --target rent -o rent.tsl

    Several tables with the same columns, a pattern or a folder are read part by part, and need not
    fit into memory; the error is then measured on --validation TABLE only.
    """  # noqa: D301
    if quiet and verbose:
        raise ValueError("--quiet must not be given together with --verbose")
    _check_tables(tables)
    if output is not None:
        parts = file_paths(list(tables)) if _are_parts(tables) else ()
        check_output(output, (*tables, *parts, validation))
    remembered = origin(tables, date, hash_table, exclude)
    share, constraints = _share(validation), directions(monotone)
    parameters |= {
        "categorical_features": list(categorical) or "auto",
        "monotonic_cst": constraints,
        "verbose": verbose or (not quiet and is_terminal(sys.stderr)),
    }
    asked = _Asked(
        Roles(target, weight, asked_offset(exposure, offset), exclude, categorical, missing, task),
        class_weight, parameters, validation, share,
        [] if share is not None else column_names(in_a_file("--validation", validation)),
        output, remembered,
    )  # fmt: skip
    if _are_parts(tables):
        _fit_parts(tables, asked)
    else:
        _fit_one(tables[0], asked)


class _Asked(NamedTuple):
    """What the options ask for."""

    roles: Roles
    class_weight: str | None
    parameters: dict[str, Any]
    validation: str
    share: float | None  # of the rows to hold out; None where --validation is a table
    held_out: list[str]  # the columns of that table
    output: str | None
    origin: dict[str, Any]

    def check_validation(self, features: Iterable[str], has_classes: bool) -> None:
        """Raise before the fit if no error could be measured on the other table."""
        if self.share is None:
            others = [] if self.roles.offset is None else [self.roles.offset.name]
            check_columns(self.validation, [self.roles.target, *features, *others], self.held_out)
            _check_outcomes(self.validation, self.roles, has_classes)


def _fit_one(table: str, asked: _Asked) -> None:
    """Fit a model to a table in memory; a share of its rows may be held out for the error."""
    data = training_columns(read_training(table, asked.roles), asked.roles)
    model = asked_estimator(data, asked.roles.task, asked.class_weight, asked.parameters)
    check_exposure(model, asked.roles.offset)
    asked.check_validation(data.features, data.has_classes)
    evaluation: Evaluation | ClassEvaluation | None = None
    if asked.share and data.are_cells:
        note(
            "rows are the cells of a contingency table, and those held out would never have been "
            "seen: no error is measured, but on --validation TABLE"
        )
    elif asked.share:
        rows = f"{1.0 - asked.share:.0%} of the rows"
        _say_fit(model, f"1 of 2: to {rows}, for the error on the others")
        evaluation = _evaluated(model, data, asked.share)
        _say_fit(model, "2 of 2: to all rows, for the model itself")
    data.fit(model, slice(None))
    model.offset_column_ = asked.roles.offset
    assert model.provenance_ is not None  # it was fitted here
    # Of cells with their counts there are more rows than in the table.
    asked.origin["n_left_out"] = max(data.n_in_table - model.provenance_.n_rows, 0)
    _finish(model, asked, evaluation, f", {count(len(data.y), 'row')}")


def _check_tables(tables: tuple[str, ...]) -> None:
    """Raise where one of several tables is not there: it may be meant for an option."""
    for one in tables if len(tables) > 1 else ():
        if one != PIPE and not Path(one).exists() and not glob.has_magic(one):
            raise FileNotFoundError(
                f"there is no table {one!r}; an option for several columns is given once for "
                "each: --exclude a --exclude b"
            )


def _are_parts(tables: tuple[str, ...]) -> bool:
    """Whether several tables, a pattern or a folder are meant."""
    first = Path(tables[0])
    is_pattern = glob.has_magic(tables[0]) and not first.exists()
    return len(tables) > 1 or first.is_dir() or is_pattern


def _fit_parts(tables: tuple[str, ...], asked: _Asked) -> None:
    """Fit a model to tables that are read part by part."""
    roles = asked.roles
    if asked.share and given_options({"validation": asked.share}):
        raise ValueError(
            "--validation must be a table, or 0, where TABLE is several, got a share of their rows"
        )
    files = open_training_files(file_paths(list(tables)), roles)
    features, kind = _features_of(files, roles), files.kind(roles.target)
    model = asked_estimator_of_kind(roles, kind, asked.class_weight, asked.parameters)
    check_exposure(model, roles.offset)
    look_at_outcomes(files, roles, model)
    asked.check_validation(features, isinstance(model, TSLClassifier))
    added: Any = {} if roles.offset is None else {roles.offset.argument: roles.offset.name}
    model.fit_files(files, roles.target, sample_weight=roles.weight, features=features, **added)
    _finish(model, asked, None, "")


def _finish(
    model: TSLRegressor | TSLClassifier,
    asked: _Asked,
    evaluation: Evaluation | ClassEvaluation | None,
    rows: str,
) -> None:
    """Let a fitted model remember where it is from, save it, and say what was found."""
    roles, output = asked.roles, asked.output
    model.missing_texts_ = roles.missing
    model.set_params(verbose=0)
    assert model.provenance_ is not None  # it was fitted here
    model.provenance_ = replace(model.provenance_, **asked.origin)
    if asked.share is None:
        evaluation = _error_on(asked.validation, model, roles, output)
    model.evaluation_ = evaluation
    if output is not None:
        save_model(model, output)
    columns = count(model.n_features_in_, "feature")
    say(f"{model._aim}{printable(roles.target)} from {columns}{rows}\n")
    say(model_text(model))
    if evaluation is not None:
        where = asked.validation if asked.share is None else "rows held out"
        say(f"\nerror ({where}): {evaluation}")
    say("not saved: -o model.tsl does it" if output is None else f"saved to {output}", err=True)


def _features_of(files: RowFiles, roles: Roles) -> list[str]:
    """The columns to predict from; raises for dates."""
    features = [n for n in files.names if n not in (*roles.no_features, *roles.exclude)]
    refuse_dates(name for name in features if files.kind(name) == DATE)
    return features


def _evaluated(
    model: TSLRegressor | TSLClassifier, data: Columns, share: float
) -> Evaluation | ClassEvaluation:
    """The error on rows held out of a fit to the others."""
    n = len(data.y)
    n_held = round(share * n)
    if not 0 < n_held < n:
        raise ValueError(f"--validation {share:g} of {n} rows leaves none on one side; give 0")
    order = np.random.default_rng(model.random_state).permutation(n)
    if data.has_classes:
        order = _with_all_classes(order, data.y, n - n_held)
    data.reorder(order)
    with warnings.catch_warnings(action="ignore"):  # the fit to all rows says the same again
        data.fit(model, slice(0, n - n_held))
    held = slice(n - n_held, n)
    table, y, weight = data.rows(held)
    return model.evaluate(table, y, weight, offset=data.offsets(held))


def _error_on(
    validation: str, model: TSLRegressor | TSLClassifier, roles: Roles, output: str | None
) -> Evaluation | ClassEvaluation:
    """The error on another table; where it cannot be told, the model is not lost."""
    weight = roles.weight if roles.weight in column_names(validation) else None
    if weight != roles.weight:
        note(f"{validation} has no column {roles.weight!r}: its rows count alike")
    try:
        rows = with_target(model, validation, roles.target, roles.missing, roles.offset, weight)
        return model.evaluate(rows.features, rows.y, rows.weight, offset=rows.offset)
    except (TypeError, ValueError):
        if output is not None:
            save_model(model, output)
            say(f"saved to {output}, but its error on {validation} is not known", err=True)
        raise


def _with_all_classes(
    order: np.ndarray[Any, Any], y: np.ndarray[Any, Any], n_fitted: int
) -> np.ndarray[Any, Any]:
    """The order, or one in which the rows to be fitted to, the first, have every class.

    A class of a few rows may have them all held out, and a model knows no class it has not seen.
    """
    _, numbers = np.unique(y[order], return_inverse=True)
    _, first = np.unique(numbers, return_index=True)
    if (first < n_fitted).all():
        return order
    if len(first) > n_fitted:
        raise ValueError(
            f"--validation leaves {n_fitted} rows to fit to, fewer than the {len(first)} classes; "
            "give a smaller share, or 0"
        )
    return np.concatenate([order[np.sort(first)], np.delete(order, first)])


def _say_fit(model: TSLRegressor | TSLClassifier, text: str) -> None:
    """Which fit the progress is of."""
    if model.verbose:
        say(f"fit {text}", err=True)


def _share(validation: str) -> float | None:
    """The share of rows to hold out; None when it names a table."""
    try:
        share = float(validation)
    except ValueError:
        return None
    if not 0 <= share < 1:
        raise ValueError(
            f"--validation must be a share >= 0 and < 1, or a table, got {validation!r}"
        )
    return share


def _check_outcomes(validation: str, roles: Roles, has_classes: bool) -> None:
    """Raise before the fit if no error could be measured on the table."""
    with opened(validation) as table:
        column = texts_as_missing(
            as_plain_text(read_columns(table, [roles.target])[roles.target]), roles.missing
        )
        if table.delimiter is not None and has_classes:
            column = empty_as_missing(column)
        elif table.delimiter is not None:
            column = NumberReader(roles.target, table.delimiter).read(column)
    if column.null_count == len(column):
        raise ValueError(
            f"--validation: {validation} must have values of {roles.target!r}, got none"
        )
