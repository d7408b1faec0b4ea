"""No figure of the README is typed by hand."""

from pathlib import Path

from benchmarks import tables

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def test_the_figures_of_the_readme_are_those_of_the_result_files():
    block = README.read_text(encoding="utf-8").split(tables.START)[1].split(tables.END)[0]
    assert block.strip("\n").splitlines() == tables.readme_lines()


def test_the_first_page_of_results_is_that_of_the_result_files():
    text = tables.SUMMARY.read_text(encoding="utf-8")
    assert text == "\n".join(tables.summary_lines()) + "\n"


def test_the_table_of_large_data_is_that_of_its_result_file():
    page = (ROOT / "docs" / "guide" / "large-data.md").read_text(encoding="utf-8")
    block = page.split(tables.SCALE_START)[1].split(tables.SCALE_END)[0]
    assert block.strip("\n").splitlines() == tables.scale_table(tables.read("scale"))


def test_what_another_machine_measured_says_so():
    found = {"seconds": 1.0, "cpu_seconds": 1.0, "peak": 1e9, "rmse": 0.3}
    ways = {"memory": found | {"processor": "this"}, "files": found | {"processor": "that"}}
    lines = tables.scale_table({"machine": {"processor": "this"}, "tables": {"1000": ways}})
    assert ["another machine" in line for line in lines[2:]] == [False, True]
