"""The command ``seplearn``: the group of all commands.

What goes wrong becomes one line and exit code 2.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.metadata import version
from typing import Any, NamedTuple, TextIO

import click

from seplearn._errors import ModelFormatError
from seplearn.cli.lines import note, printable


class _Command(NamedTuple):
    """Where a command is, and what it does in a few words."""

    module: str
    name: str
    summary: str


_COMMANDS = {
    "fit": _Command("fit", "fit", "Fit a model to a table and say what it found."),
    "predict": _Command("predict", "predict", "Predict every row of a table."),
    "evaluate": _Command("use", "evaluate", "Say how good the predictions for a table are."),
    "check": _Command("check", "check", "Say whether new rows are like those of the fit."),
    "summary": _Command("use", "summary", "Say in sentences what a model does."),
    "explain": _Command("explain", "explain", "Say why a row is predicted as it is."),
    "curves": _Command("use", "curves", "Write the curves of a model as a table."),
    "report": _Command("use", "report", "Write a page about a model, to play with."),
    "compare": _Command("compare", "compare", "Compare two models on the rows of a table."),
    "export": _Command("export", "export", "Write a model for places without this library."),
    "edit": _Command("edit", "edit", "Change a model by hand, with a record."),
    "merge": _Command("edit", "merge", "Write the average of several models."),
    "info": _Command("info", "info", "Say what a file of a model holds."),
    "demo": _Command("demo", "demo", "Fit, explain and report the rents of invented flats."),
    "compile": _Command("compile", "compile_kernels", "Compile what fits need, once."),
}


class _Commands(click.Group):
    """Commands that answer bad input with one line instead of a traceback.

    Each is imported when it is called: to ask for help should not take seconds.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        own = _COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"seplearn.cli.{own.module}"), own.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, own.summary) for name, own in _COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except MemoryError:
            raise _Failure("not enough memory for this table") from None
        except _bad_input() as error:
            raise _Failure(str(error) or type(error).__name__) from error


def _bad_input() -> tuple[type[Exception], ...]:
    """What is raised for it; by Arrow too, if the command has imported it."""
    own = (ModelFormatError, ImportError, OSError, TypeError, ValueError)
    return (*own, sys.modules["pyarrow"].ArrowException) if "pyarrow" in sys.modules else own


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


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
    seplearn edit rent.tsl --flatten floor --reason why -o new.tsl   by hand, with a record

    Tables are CSV (also .csv.gz) or Parquet files, recognised by their content; - is a pipe. Data
    go to standard output, progress and notes to standard error.
    """  # noqa: D301
