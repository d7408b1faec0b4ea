"""What is shipped: a wheel and an sdist, built here and installed where nothing else is."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

import seplearn

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "reference-v3.tsl"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_the_wheel_has_what_the_package_needs_and_nothing_else(built):
    wheel, _ = built
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert wheel.name.startswith(f"seplearn-{seplearn.__version__}-py3-none-any")
    assert "seplearn/py.typed" in names
    package = ROOT / "src" / "seplearn"
    sources = {
        f"seplearn/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    shipped = {name for name in names if ".dist-info/" not in name}
    assert shipped == sources
    assert {"seplearn/report/page/page.html", "seplearn/report/page/whatif.js"} <= shipped


def test_the_sdist_can_be_tested(built, tmp_path):
    _, sdist = built
    assert sdist.stat().st_size < 2_700_000  # a tenth of it are tables of the case studies
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    [root] = tmp_path.iterdir()
    shipped = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    assert {"README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile"} <= shipped
    assert {"pyproject.toml", "tests/naive.py", "tests/golden/reference-v3.tsl"} <= shipped
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    command += ["-o", "filterwarnings=default"]  # old versions of libraries warn when imported
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=root, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    collected = {line.split("::")[0] for line in done.stdout.splitlines() if "::" in line}
    assert {"tests/benchmarks/test_harness.py", "tests/studies/test_command.py"} <= collected
    assert "src/seplearn/estimators/tsl.py" in collected


def test_lower_bounds_are_those_the_suite_is_run_with():
    """``make lower-bounds`` installs exactly what pyproject.toml allows at least."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["plots"], *extras["cli"]]
    lowest = dict(requirement.split(">=") for requirement in wanted)
    lines = (ROOT / "tests" / "lower-bounds.txt").read_text(encoding="utf-8").splitlines()
    run_with = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name, version in lowest.items():
        assert Version(run_with[name]) == Version(version), name


def released():
    """(version, date) of every release that the changelog has, the newest first."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    # What has no version yet stands above the rest, if there is any.
    versions = headings[1:] if headings[0] == "Unreleased" else headings
    return [re.fullmatch(r"(\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)", v).groups() for v in versions]


def test_the_changelog_has_the_releases_in_order():
    versions = [Version(version) for version, _ in released()]
    assert versions == sorted(set(versions), reverse=True)
    assert versions[0] == Version(seplearn.__version__)


def test_the_citation_is_of_this_version_and_of_the_paper():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(cited)  # what the format demands
    assert (cited["version"], str(cited["date-released"])) == released()[0]
    assert cited["version"] == seplearn.__version__
    assert cited["title"] == project["name"]
    assert cited["abstract"] == project["description"]
    assert cited["license"] == project["license"]
    [author] = cited["authors"]
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert re.search(r"Copyright \(c\) \d+ (.*)", licence)[1] == author["name"]
    paper = cited["preferred-citation"]
    assert [author["family-names"] for author in paper["authors"]] == ["Liu", "Hiabu"]
    title = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert f"*{paper['title']}* (preprint, {paper['year']})" in title


CHECK = """
import sys
import seplearn
assert not {"matplotlib", "click"} & set(sys.modules), "heavy imports"
model = seplearn.load_model(sys.argv[1])
assert len(model.stages_) > 0
print(seplearn.__version__, seplearn.__file__)
"""


def test_the_wheel_works_in_an_empty_environment(built, tmp_path):
    # Without a pip of its own, and without compiling what nothing here imports: it is quicker.
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True
    )
    python = tmp_path / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    command = [*pip, "install", "--quiet", "--no-compile", str(built[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No matching distribution" in done.stderr or "Connection" in done.stderr:
        pytest.skip("dependencies cannot be installed: no registry is reached")
    assert done.returncode == 0, done.stderr
    elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(command):
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=elsewhere, check=False
        )

    command = [str(python), "-c", CHECK, str(GOLDEN)]
    done = run(command)
    assert done.returncode == 0, done.stderr
    version, place = done.stdout.split()
    assert version == seplearn.__version__
    assert str(tmp_path) in place
    command = [str(python), "-m", "seplearn", "demo"]
    assert (
        run(command).stderr.strip() == "the command line needs click: pip install 'seplearn[cli]'"
    )
