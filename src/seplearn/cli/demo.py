"""``seplearn demo``: the commands, one after another, on a table of invented flats."""

from __future__ import annotations

from pathlib import Path

import click
import pyarrow as pa
from pyarrow import csv

from seplearn import datasets
from seplearn._files import replaced
from seplearn.cli.explain import explain
from seplearn.cli.fit import fit
from seplearn.cli.use import report
from seplearn.table.columns import open_table


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
