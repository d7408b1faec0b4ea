"""The command that writes a saved model for places without this library."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
import narwhals as nw

from seplearn._files import replaced
from seplearn.cli.lines import is_terminal, note, say
from seplearn.cli.tables import PIPE, TableWriter, check_output, open_model
from seplearn.estimators.base import SeparationEstimator
from seplearn.export.source import LANGUAGES
from seplearn.export.sql import DIALECT_NAMES


@click.command()
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="The model as a JSON document.")
@click.option(
    "--source",
    type=click.Choice(LANGUAGES.options),
    help="A program in this language that needs nothing else.",
)
@click.option(
    "--sql",
    "dialect",
    type=click.Choice(DIALECT_NAMES.options),
    help="One SELECT in the dialect of this database.",
)
@click.option("--onnx", "as_onnx", is_flag=True, help="An ONNX graph; needs the package onnx.")
@click.option(
    "--missing-level",
    default="",
    help="With --onnx: the text that says that a level is missing; the empty one by default.",
)
@click.option(
    "--scorecard",
    is_flag=True,
    help="A table of points to add up (.csv or .parquet), of a model in which every feature acts "
    "by itself (as after fit --stages 0), or of a single product.",
)
@click.option(
    "--scale",
    type=float,
    help="With --scorecard: points per unit of the sum; negative where many points are a low risk.",
)
@click.option("--digits", type=int, help="With --scorecard: decimals that points are rounded to.")
@click.option(
    "--table",
    default="t",
    show_default=True,
    help="With --sql: the table to predict, or SCHEMA.TABLE.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="With --sql: copy this column of the table, such as an identifier; may be repeated.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="With --source, --sql or --onnx: also tell what every main effect and stage adds.",
)
@click.option("-o", "--output", default=PIPE, help="The file to write; a pipe if not given.")
def export(
    model: str, as_json: bool, source: str | None, dialect: str | None, as_onnx: bool,
    missing_level: str, scorecard: bool, scale: float | None, digits: int | None, table: str,
    keep: tuple[str, ...], explain: bool, output: str,
) -> None:  # fmt: skip
    """Write MODEL for places without this library.

    All of them predict what `seplearn predict` does, but for texts that stand for missing values
    (--missing), which belong to tables of this command.

    \b
    seplearn export rent.tsl --sql duckdb --table flats --keep id
    seplearn export rent.tsl --source c --explain -o rent.c
    """  # noqa: D301
    forms = {
        "--json": as_json, "--source": source is not None, "--sql": dialect is not None,
        "--onnx": as_onnx, "--scorecard": scorecard,
    }  # fmt: skip
    _check_form(forms)
    _check_belongs({"--keep": bool(keep), "--table": table != "t"}, "--sql", dialect is not None)
    _check_belongs({"--missing-level": missing_level != ""}, "--onnx", as_onnx)
    numbers = {"--scale": scale is not None, "--digits": digits is not None}
    _check_belongs(numbers, "--scorecard", scorecard)
    _check_belongs({"--explain": explain}, "--source, --sql or --onnx", not (as_json or scorecard))
    check_output(output, (model,), may_be_pipe=True)
    if as_onnx and output == PIPE and is_terminal(sys.stdout):
        raise click.UsageError("--onnx is not for a terminal: give -o, or a pipe")
    estimator = open_model(model)
    _note_missing_texts(estimator)
    if as_onnx:
        graph = _graph(estimator, explain, missing_level)
        _write(graph.SerializeToString(), output)
    elif scorecard:
        _write_scorecard(estimator, 1.0 if scale is None else scale, digits, output)
    else:
        _write(_text(estimator, source, dialect, table, keep, explain).encode(), output)


def _note_missing_texts(estimator: SeparationEstimator) -> None:
    """Remark on texts for missing values, which only commands know."""
    texts = ", ".join(map(repr, estimator.missing_texts_))
    if texts:
        note(
            f"in the training table {texts} meant that a value is missing; what is written does "
            "not know that: values have to be missing where it is used"
        )


def _graph(estimator: SeparationEstimator, explain: bool, missing_level: str) -> Any:
    try:
        return estimator.to_onnx(explain=explain, missing_level=missing_level)
    except ValueError as error:
        raise ValueError(str(error).replace("missing_level", "--missing-level")) from error


def _write_scorecard(
    estimator: SeparationEstimator, scale: float, digits: int | None, output: str
) -> None:
    """A table of points, with the base first; what they add up to is told beside it."""
    card = estimator.to_scorecard(scale=scale, digits=digits)
    with TableWriter(output) as writer:
        writer.write(nw.from_native(card.frame()).to_arrow())
    unit = "" if scale == 1.0 else f", times {scale!r}"
    say(f"points add up to the {card.score}{unit}", err=True)


def _check_form(forms: dict[str, bool]) -> None:
    chosen = [name for name, is_given in forms.items() if is_given]
    if len(chosen) != 1:
        got = " and ".join(chosen) or "none"
        raise click.UsageError(f"one of {', '.join(forms)} must be given, got {got}")


def _check_belongs(given: dict[str, bool], to: str, is_there: bool) -> None:
    for name, is_given in given.items():
        if is_given and not is_there:
            raise click.UsageError(f"{name} goes with {to} only")


def _text(
    estimator: SeparationEstimator,
    source: str | None,
    dialect: str | None,
    table: str,
    keep: tuple[str, ...],
    explain: bool,
) -> str:
    if source is not None:
        return estimator.to_source(source, explain=explain)
    if dialect is not None:
        return estimator.to_sql(table.split("."), dialect, explain=explain, keep=keep)
    return json.dumps(estimator.to_dict(), allow_nan=False) + "\n"


def _write(content: bytes, output: str) -> None:
    """All at once: nothing is written unless the whole could be made."""
    if output == PIPE:
        if is_terminal(sys.stdout):  # where control characters in names would act
            say(content.decode())
        else:
            click.echo(content, nl=False)
        return
    with replaced(output) as file:
        file.write(content)
    say(f"wrote {output}", err=True)
