"""``seplearn demo``: everything once, on a table made up for it."""

from __future__ import annotations

from pathlib import Path

import click
import pyarrow as pa
from pyarrow import csv

from seplearn import datasets
from seplearn.cli.explaining import explain, report
from seplearn.cli.fitting import fit
from seplearn.table.columns import open_table


@click.command()
@click.option(
    "-o", "--output", default="seplearn-demo", show_default=True, help="Folder to write to."
)
@click.pass_context
def demo(ctx: click.Context, output: str) -> None:
    """Fit, explain and report the rents of invented flats, showing every command."""
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    flats, unseen, model, page = (
        str(folder / name) for name in ("flats.csv", "unseen.csv", "rent.tsl", "rent.html")
    )
    table = _flats()
    csv.write_csv(table.slice(0, 3_000), flats)
    csv.write_csv(table.slice(3_000), unseen)
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


def _flats() -> pa.Table:
    X, y = datasets.rents(4_000, random_state=0)
    table = open_table(X)
    columns = {
        name: table.levels(j) if table.is_categorical(j) else table.numbers(j)
        for j, name in enumerate(table.names or ())
    }
    return pa.table(columns | {"rent": y.round(2)})
