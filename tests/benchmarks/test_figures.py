"""No figure of the README and the docs is typed by hand."""

import json

import pytest

from benchmarks import figures, tables


@pytest.fixture(scope="module")
def values():
    return figures.named()


@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: page.stem)
def test_the_figures_of_a_page_are_those_of_the_result_files(page, values):
    text = page.read_text(encoding="utf-8")
    assert text == figures.filled(text, values)
    assert "{{" not in text  # would be read as it stands where the page is not part of the site


def test_the_readme_has_its_table(values):
    text = figures.pages()[0].read_text(encoding="utf-8")
    assert f"<!-- headline_lines -->\n{values['headline_lines']}\n<!-- / -->" in text


def test_the_first_page_of_results_is_that_of_the_result_files():
    text = figures.SUMMARY.read_text(encoding="utf-8")
    assert text == "\n".join(tables.summary_lines()) + "\n"


def test_figures_are_filled_in_lines_and_between_them():
    text = "EBM <!-- a -->?<!-- / -->, <!-- b --><!-- / -->.\n\n<!-- c -->\nold\n<!-- / -->\n"
    values = {"a": "0.84", "b": "2", "c": "| x |\n|---|"}
    filled = figures.filled(text, values)
    assert filled == (
        "EBM <!-- a -->0.84<!-- / -->, <!-- b -->2<!-- / -->.\n\n"
        "<!-- c -->\n| x |\n|---|\n<!-- / -->\n"
    )
    assert figures.filled(filled, values) == filled


@pytest.mark.parametrize("start", ["", "  ", "> ", "- "])
def test_a_figure_at_the_start_of_a_line_is_refused(start):
    with pytest.raises(ValueError, match="must not begin a line"):
        figures.filled(f"as\n{start}<!-- a -->1<!-- / --> times", {"a": "1"})


def test_a_figure_that_there_is_not_is_refused():
    with pytest.raises(KeyError, match="ratio_nobody"):
        figures.filled("x <!-- ratio_nobody -->1<!-- / -->", {"a": "1"})


def test_figures_without_results_say_so(values, monkeypatch, tmp_path):
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    without = figures.named()
    assert set(without) == set(values)
    assert set(without.values()) == {figures.NOT_MEASURED}


def test_a_figure_is_that_of_the_rows(monkeypatch, tmp_path):
    rows = [("seplearn", 0, 1.0), ("ebm", 0, 2.0), ("ebm", 42, 9.0)]
    shared = {"problem": "a", "tag": "default", "status": "ok", "cores": 1, "cpu_seconds": 1.0}
    lines = [json.dumps(shared | {"rival": r, "split": s, "rmse": e}) for r, s, e in rows]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    assert figures.against_rivals("", figures.TASKS[""])["ratio_ebm"] == "0.50"


def test_what_another_machine_measured_says_so():
    found = {"seconds": 1.0, "cpu_seconds": 1.0, "peak": 1e9, "rmse": 0.3}
    ways = {"memory": found | {"processor": "this"}, "files": found | {"processor": "that"}}
    lines = tables.scale_table({"machine": {"processor": "this"}, "tables": {"1000": ways}})
    assert ["another machine" in line for line in lines[2:]] == [False, True]
