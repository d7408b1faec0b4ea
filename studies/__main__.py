"""All studies, or some: ``python -m studies [names] --data-dir folder --output folder``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from studies.catalogue import STUDIES
from studies.tables import Folder, MissingDataError, OpenML, Source

DEFAULT_OUTPUT = Path(__file__).parent / "results"


def main(words: list[str] | None = None) -> int:
    """Run the studies named, all by default; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(STUDIES)}; all by default")
    parser.add_argument("--data-dir", type=Path, help="folder with tables; OpenML by default")
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, help="folder for the pages")
    parser.add_argument("--tiny", action="store_true", help="a quick look with few rows")
    given = parser.parse_args(words)
    unknown = [name for name in given.names if name not in STUDIES]
    if unknown:
        return _complain(f"unknown study {unknown[0]!r}; there are {', '.join(STUDIES)}")
    try:
        source = OpenML() if given.data_dir is None else Folder(given.data_dir)
    except MissingDataError as error:
        return _complain(str(error))
    code = 0
    for name in given.names or STUDIES:
        try:
            _run(name, source, given.output, given.tiny)
        except MissingDataError as error:  # the others need no table
            code = _complain(f"{name} left out: {error}")
    _write_index(given.output)
    return code


def _run(name: str, source: Source, output: Path, tiny: bool) -> None:
    study = STUDIES[name]
    started = time.perf_counter()
    page = study.run(study.TINY if tiny else study.FULL, source)
    seconds = time.perf_counter() - started
    page.write(output, seconds)
    print(f"{name}: {seconds:.0f} s, {output / name}.md", flush=True)


def _complain(message: str) -> int:
    print(f"python -m studies: {message}", file=sys.stderr)
    return 2


def _write_index(folder: Path) -> None:
    """A page that lists the studies whose pages are there."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Studies", "", "`make studies` measures and writes all of these.", ""]
    for name in STUDIES:
        path = folder / f"{name}.md"
        if path.exists():
            text = path.read_text(encoding="utf-8").splitlines()
            lines.append(f"- [{text[0].removeprefix('# ')}]({path.name}). {text[-1]}")
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
