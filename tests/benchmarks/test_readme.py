"""No figure of the README is typed by hand."""

from pathlib import Path

from benchmarks import tables

README = Path(__file__).parents[2] / "README.md"


def test_the_figures_of_the_readme_are_those_of_the_result_files():
    block = README.read_text(encoding="utf-8").split(tables.START)[1].split(tables.END)[0]
    assert block.strip("\n").splitlines() == tables.readme_lines()
