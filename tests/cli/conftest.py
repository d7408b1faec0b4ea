"""Files that the tests of the command line share: flats, a model of them, flats without a rent."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner

from seplearn import datasets
from seplearn.cli import command_line

QUICK = ["--stages", "2", "--early-stopping", "no", "--jobs", "1", "--quiet"]


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    X, y = datasets.rents(700, random_state=0)
    frame = X.assign(rent=np.round(y, 2), id=[f"flat {k}" for k in range(700)])
    frame[:500].to_csv(folder / "flats.csv", index=False)
    frame[500:].to_csv(folder / "unseen.csv", index=False)
    frame[500:].drop(columns="rent").to_parquet(folder / "unseen.parquet")
    done = run("fit", folder / "flats.csv", "--target", "rent", "--exclude", "id", *QUICK,
               "--n-bootstrap", "5", "-o", folder / "rent.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    return folder


def run(*arguments, **options):
    """A command in this process."""
    return CliRunner().invoke(command_line, [str(a) for a in arguments], **options)


def rows(text):
    """A CSV as a list of dictionaries."""
    return list(csv.DictReader(text.splitlines()))
