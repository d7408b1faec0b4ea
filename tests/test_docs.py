"""The pages and the docstrings: every example runs, every link between files leads somewhere."""

import importlib
import inspect
import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import seplearn
from seplearn import datasets, explain, plots, report

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("_build", "_generated", "cases", "gallery", "generated")  # by `make docs`
BESIDE = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
PAGES = sorted(
    page
    for page in [*DOCS.rglob("*.md"), *BESIDE]
    if not set(MADE) & set(page.relative_to(ROOT).parts)
)
NUMBER = r"-?\d+(?:\.\d+)?"
GUIDE = [DOCS / "start.md", *sorted((DOCS / "guide").glob("*.md"))]


def named(pages):
    return {"argvalues": pages, "ids": [str(page.relative_to(ROOT)) for page in pages]}


def is_of(module, thing):
    return getattr(thing, "__module__", None) == module.__name__


def public_objects():
    """(name, object) of every public class and function."""
    own = [name for name, f in vars(datasets).items() if name[0] != "_"]
    own = [name for name in own if is_of(datasets, getattr(datasets, name))]
    listed = [(module, module.__all__) for module in (seplearn, explain, plots, report)]
    for module, names in [*listed, (datasets, own)]:
        for name in names:
            found = getattr(module, name)
            if inspect.isclass(found) or inspect.isfunction(found):
                yield f"{module.__name__}.{name}", found


@pytest.mark.parametrize(("name", "thing"), list(public_objects()))
def test_a_public_object_has_an_example_and_a_place_in_the_reference(name, thing):
    section = (inspect.getdoc(thing) or "").partition("Examples\n--------\n")[2]
    assert ">>> " in section
    module, _, own = name.rpartition(".")
    reference = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    place = reference.split(f".. module:: {module}\n")[1].split(".. module::")[0]
    assert f"\n   {own}\n" in place


def result_of(name):
    """The class of what an explanation gives."""
    told = inspect.signature(getattr(explain, name)).return_annotation
    return getattr(explain, told.split(" | ")[0])


def test_the_options_of_all_figures_are_told():
    page = (DOCS / "explanations.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (.*) \| (.*) \|$", page.split("| result of | options |")[1], re.MULTILINE
    )
    told = {
        name: set(re.findall(r"(\w+)=", options))
        for results, options in rows
        for name in re.findall(r"`(\w+)`", results)
    }
    for name in filter(str.islower, explain.__all__):
        signature = inspect.signature(getattr(plots, result_of(name)._figure))
        options = {p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
        assert told.get(name, set()) >= options, name
        assert f"`{name}`" in page.split("`frame()` has a row per")[1].split("## Bands")[0], name


def heading_anchors(page):
    """What GitHub and the site call the headings of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", **named(PAGES))
def test_links_between_files_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text)
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} in {page.name}"
        if anchor and target.suffix == ".md":
            assert anchor in heading_anchors(target), f"{link} in {page.name}"


@pytest.mark.no_cover  # what pages show has tests of its own; measuring takes as long again
@pytest.mark.parametrize("page", **named(GUIDE))
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    """One after the other, as a reader would run them; the text below one is what it prints."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(\w+)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert "python" in dict(blocks)
    space: dict[str, Any] = {}
    printed = ""
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, str(page), "exec"), space)
            printed = capsys.readouterr().out
        elif kind == "text" and printed:
            assert in_words(text) == in_words(printed)
            assert in_numbers(text) == pytest.approx(in_numbers(printed), rel=0.02, abs=0.01)


def in_words(text):
    return re.sub(NUMBER, "0", text).split()


def in_numbers(text):
    return [float(number) for number in re.findall(NUMBER, text)]


def test_every_page_is_in_a_table_of_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^(?:.*<)?([\w\-/]+)>?$", index, re.MULTILINE))
    pages = {
        page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES if DOCS in page.parents
    }
    assert pages - {"index"} <= listed


def test_every_example_of_the_gallery_has_a_title_and_a_figure():
    examples = sorted((ROOT / "examples").glob("*/plot_*.py"))
    assert len(examples) >= 14
    for example in examples:
        text = example.read_text(encoding="utf-8")
        assert re.match(r'"""\n.+\n=+\n\n', text), example.name
        assert ".plot(" in text or "plt." in text, example.name
        assert "fetch_" not in text, example.name


def test_tables_that_come_along_are_small_and_their_terms_are_told():
    folder = ROOT / "examples" / "cases" / "data"
    told = (folder / "TERMS.md").read_text(encoding="utf-8")
    tables = [path for path in folder.iterdir() if path.name != "TERMS.md"]
    assert sum(path.stat().st_size for path in tables) < 1_000_000
    listed = dict(re.findall(r"^\| `([^`]+)` \| .* \| (.+) \|$", told, re.MULTILINE))
    assert set(listed) == {path.name for path in tables}
    for name, terms in listed.items():
        assert "CC BY 4.0" in terms or "not under copyright" in terms, name
        cases = (ROOT / "examples" / "cases").glob("plot_*.py")
        (case,) = [c for c in cases if f"data/{name}" in c.read_text(encoding="utf-8")]
        assert re.search("CC BY 4.0|not under\\W+copyright", case.read_text(encoding="utf-8"))


def test_every_package_that_is_needed_names_its_licence(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    lines = importlib.import_module("dependencies").table().splitlines()
    always = [line for line in lines if line.endswith("| everything |")]
    needed = [re.match(r"[\w\-]+", text) for text in metadata.requires("seplearn")]
    found = [name[0] for name in needed if f"| {name[0]} |" in "\n".join(always)]
    assert {"numpy", "numba", "scikit-learn", "safetensors"} <= set(found)
    assert not [line for line in always if "not named" in line or "not installed" in line]


@pytest.fixture
def measured(monkeypatch):
    """What the site reads figures with; it lies beside the pages."""
    monkeypatch.syspath_prepend(DOCS)
    module = importlib.import_module("measured")
    yield module
    del sys.modules["measured"]


def test_the_site_can_be_built_without_results(measured, monkeypatch, tmp_path):
    monkeypatch.setattr(measured, "RESULTS", tmp_path / "none")
    measured.write_pages(tmp_path)
    assert "not measured" in (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    for name in ("classification", "counts_and_quantiles"):
        text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert "Nothing of this is measured yet." in text


def test_the_site_shows_the_report_when_there_is_one(measured, monkeypatch, tmp_path):
    report_folder = tmp_path / "results" / "report"
    report_folder.mkdir(parents=True)
    rows = [("seplearn", 0, 1.0), ("ebm", 0, 2.0), ("ebm", 42, 9.0)]
    shared = {"problem": "a", "tag": "default", "status": "ok", "cores": 1, "cpu_seconds": 1.0}
    lines = [json.dumps(shared | {"rival": r, "split": s, "rmse": e}) for r, s, e in rows]
    (tmp_path / "results" / "runs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (report_folder / "fresh_splits.md").write_text(
        "# Fresh\n\n## RMSE\n\n| a |\n", encoding="utf-8"
    )
    (report_folder / "growth.md").write_text("# Growth\n\nNo rows.\n", encoding="utf-8")
    monkeypatch.setattr(measured, "RESULTS", tmp_path / "results")
    measured.write_pages(tmp_path)
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert page.startswith("## Fresh\n\n![Fresh](_generated/fresh_splits.png)\n\n### RMSE")
    assert (tmp_path / "fresh_splits.png").read_bytes().startswith(b"\x89PNG")
    assert "## Growth\n\nNo rows." in page  # nothing to draw, and no picture is promised
