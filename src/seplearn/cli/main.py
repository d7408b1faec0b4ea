"""The command ``seplearn``: the group of all commands, and ``seplearn demo``.

What goes wrong becomes one line and exit code 2.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

import click
import pyarrow as pa
from pyarrow import ArrowException, csv

from seplearn import datasets
from seplearn._errors import ModelFormatError
from seplearn._files import replaced
from seplearn.cli.check import check
from seplearn.cli.compare import compare
from seplearn.cli.compile import compile_kernels
from seplearn.cli.edit import edit, merge
from seplearn.cli.explain import explain
from seplearn.cli.export import export
from seplearn.cli.fit import fit
from seplearn.cli.text import note, printable
from seplearn.cli.use import curves, evaluate, info, predict, report, summary
from seplearn.table.columns import open_table


class _OneLineErrors(click.Group):
    """A group whose commands answer bad input with one line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except MemoryError:
            raise _Failure("not enough memory for this table") from None
        except (
            ModelFormatError, ArrowException, ImportError, OSError, TypeError, ValueError,
        ) as error:  # fmt: skip
            raise _Failure(str(error) or type(error).__name__) from error


class _Failure(click.ClickException):
    """A message on one line."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(message.split())))


def _show_warning(
    message: Warning | str,
    category: type[Warning],  # noqa: ARG001
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    note(str(message))


@click.group(cls=_OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("seplearn"), prog_name="seplearn")
def command_line() -> None:
    """Models you can read, from a table to an answer: numbers, counts and classes.

    \b
    seplearn demo                                      try it on a made-up table
    seplearn fit flats.csv --target rent -o rent.tsl   fit, and say what was found
    seplearn predict rent.tsl new.csv -o rents.csv     predict
    seplearn evaluate rent.tsl unseen.csv              how good is it?
    seplearn check rent.tsl new.csv                    are new rows like the old ones?
    seplearn summary rent.tsl                          what does the model say?
    seplearn explain rent.tsl new.csv --row 3          why this prediction?
    seplearn report rent.tsl unseen.csv -o rent.html   a page to play with
    seplearn compare rent.tsl other.tsl unseen.csv     which of two, and why?
    seplearn export rent.tsl --sql duckdb              for places without this library
    seplearn edit rent.tsl --flatten floor --reason    change it by hand, with a record

    Tables are CSV (also .csv.gz) or Parquet files, recognised by their content; - is a pipe. Data
    go to standard output, progress and notes to standard error.
    """  # noqa: D301


@click.command()
@click.option(
    "-o", "--output", default="seplearn-demo", show_default=True, help="Folder to write to."
)
@click.pass_context
def demo(ctx: click.Context, output: str) -> None:
    """Fit, explain and report the rents of invented flats, showing every command."""
    folder, tables = Path(output), _made_up_tables()
    _check_folder(folder, tables["flats.csv"])
    folder.mkdir(parents=True, exist_ok=True)
    flats, unseen, model, page = (
        str(folder / name) for name in ("flats.csv", "unseen.csv", "rent.tsl", "rent.html")
    )
    for name, content in tables.items():
        with replaced(folder / name) as file:
            file.write(content)
    steps = (
        (fit, [flats, "--target", "rent", "--stages", "4", "-o", model]),
        (explain, [model, unseen, "--row", "3"]),
        (report, [model, unseen, "-o", page]),
    )
    for command, arguments in steps:
        click.secho(f"\n$ seplearn {command.name} {' '.join(arguments)}", bold=True)
        with command.make_context(command.name, list(arguments), parent=ctx) as own:
            command.invoke(own)
    click.echo(f"\nOpen {page} in a browser, and change a flat.")


def _check_folder(folder: Path, flats: bytes) -> None:
    """Raise for a folder that holds anything but an earlier demo: it might be replaced."""
    own = folder / "flats.csv"
    is_own = own.is_file() and own.read_bytes() == flats
    if folder.is_dir() and any(folder.iterdir()) and not is_own:
        raise ValueError(
            "output must be a folder that is new or empty, or that of an earlier demo, got "
            f"{str(folder)!r}"
        )


def _made_up_tables() -> dict[str, bytes]:
    """The tables to fit to and to try the model on, by the names of their files."""
    table = _flats()
    parts = {"flats.csv": table.slice(0, 3_000), "unseen.csv": table.slice(3_000)}
    written = {}
    for name, part in parts.items():
        sink = pa.BufferOutputStream()
        csv.write_csv(part, sink)
        written[name] = sink.getvalue().to_pybytes()
    return written


def _flats() -> pa.Table:
    X, y = datasets.rents(4_000, random_state=0)
    table = open_table(X)
    columns = {
        name: table.levels(j) if table.is_categorical(j) else table.numbers(j)
        for j, name in enumerate(table.names or ())
    }
    return pa.table(columns | {"rent": y.round(2)})


for _command in (
    fit,
    predict,
    evaluate,
    check,
    summary,
    explain,
    curves,
    report,
    compare,
    export,
    edit,
    merge,
    info,
    demo,
    compile_kernels,
):
    command_line.add_command(_command)
