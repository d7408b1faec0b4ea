"""Entry point of the measurements: ``python -m benchmarks run`` and other commands."""

from __future__ import annotations

import argparse
import math
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    compare,
    confirm,
    data,
    growth,
    headline,
    paper_page,
    problems,
    report,
    run,
    task_pages,
    tune,
)  # fmt: skip
from benchmarks.rivals import RIVALS
from benchmarks.rows import Rows, key_of
from benchmarks.tasks import KINDS, REGRESSION

RESULTS = Path(__file__).parent / "results"
_RUNS = ("runs.jsonl", "growth.jsonl")
_TIMEOUT = "seconds a fit may take, with loading and what is compiled before it"


def _whole(least: int) -> Callable[[str], int]:
    """A whole number of at least so much."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {least} on, got {text!r}"
            )
        return value

    return read


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return value


def _folder(text: str) -> Path:
    """A folder as it is named here: fits run elsewhere."""
    path = Path(text).resolve()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"must be a folder that exists, got {text!r}")
    return path


def _data(parser: argparse.ArgumentParser) -> None:
    about = "folder with data/ (tables) and reference/ (published parameters and errors)"
    parser.add_argument("--data-dir", type=_folder, help=about)


def _results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")


def _common(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    _results(parser)
    about = "default: all of the task, of the folder or of OpenML"
    parser.add_argument("--problems", nargs="+", metavar="NAME", help=about)
    parser.add_argument(
        "--rivals", nargs="+", choices=list(RIVALS), metavar="NAME",
        help="default: all that do the task; one of " + "; ".join(RIVALS),
    )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fits = commands.add_parser("run", help="fit models, one row per fit; resumes")
    _common(fits)
    about = "which problems and rivals are all; those that are named may be of any task"
    fits.add_argument("--task", choices=KINDS, default=REGRESSION, help=about)
    about = "seeds of the splits into training and test part"
    fits.add_argument("--splits", nargs="+", type=_whole(0), default=[0], help=about)
    about = "which parameters; all but the defaults belong to one split"
    fits.add_argument(
        "--tag", choices=["default", "published", "tuned"], default="default", help=about
    )
    fits.add_argument("--timeout", type=_seconds, default=1200.0, help=_TIMEOUT)
    about = "fits at a time; their times are not reported if more than 1"
    fits.add_argument("--jobs", type=_whole(1), default=1, help=about)
    about = "run again what failed, timed out or was skipped"
    fits.add_argument("--retry", action="store_true", help=about)
    tuning = commands.add_parser("tune", help="search parameters on the training part; resumes")
    _common(tuning)
    about = "seed of the split whose training part is used"
    tuning.add_argument("--split", type=_whole(0), default=report.PAPER_SPLIT, help=about)
    tuning.add_argument(
        "--trials", type=_whole(1), default=200, help="in all, earlier ones counted"
    )
    about = "training rows at most, drawn at random"
    tuning.add_argument("--rows", type=_whole(20), help=about)
    tuning.add_argument("--folds", type=_whole(2), default=tune.N_FOLDS, help="of each trial")
    sizes = commands.add_parser("growth", help="time and memory against rows and features; resumes")
    sizes.add_argument("--rivals", nargs="+", choices=growth.RIVALS, default=list(growth.RIVALS))
    _results(sizes)
    about = "seeds of the splits; of the largest tables only the first is measured"
    sizes.add_argument("--splits", nargs="+", type=_whole(0), default=[0], help=about)
    sizes.add_argument("--timeout", type=_seconds, default=900.0, help=_TIMEOUT)
    tables = commands.add_parser("report", help="tables and figures from the rows")
    _data(tables)
    _results(tables)
    same = commands.add_parser("confirm", help="rows beside those of fits made again")
    _results(same)
    about = "folder of results to which the fits were made again, as with run --results"
    same.add_argument("--again", type=_folder, required=True, help=about)
    two = commands.add_parser("compare", help="time the working tree beside a revision")
    two.add_argument("--base", required=True, help="a revision of git")
    two.add_argument("--repetitions", type=_whole(1), default=5, help="the fastest counts")
    two.add_argument("--relative", type=float, default=compare.RELATIVE, help="share")
    two.add_argument("--output", type=Path, help="a file for the table, besides the terminal")
    two.add_argument("--absolute", type=float, default=compare.ABSOLUTE, help="seconds")
    return parser


def _published(folder: Path, names: list[str]) -> run.Parameters:
    """What the paper's authors found on the training part of their split, and for it alone."""
    found = data.tuned_parameters(folder)
    return {
        (name, rival.name, report.PAPER_SPLIT): found[name][rival.published]["params"]
        for name in names
        for rival in RIVALS.values()
        if rival.published in found.get(name, {})
    }


def _run(arguments: argparse.Namespace) -> None:
    names = _names(arguments, arguments.task)
    params = None
    if arguments.tag == "tuned":
        params = tune.tuned(arguments.results / "tuned")
    elif arguments.tag == "published":
        if not data.has_files(arguments.data_dir, data.PUBLISHED):
            return
        params = _published(arguments.data_dir, names)
    todo = run.cells(
        names, arguments.splits, _rivals(arguments, arguments.task), folder=arguments.data_dir,
        tag=arguments.tag, params=params,
    )  # fmt: skip
    if not todo:
        has = sorted({split for _, _, split in params or {}})
        raise ValueError(f"nothing to run: {arguments.tag} parameters are there for splits {has}")
    rows = Rows(arguments.results / "runs.jsonl")
    count = run.run(
        todo, rows, timeout=arguments.timeout, jobs=arguments.jobs, retry=arguments.retry
    )
    asked = {key_of(cell) for cell in todo}
    empty = [row for row in rows.read() if row["status"] != "ok" and key_of(row) in asked]
    print(f"{count} new rows in {rows.path}; {len(empty)} of {len(todo)} cells without a result")


def _names(arguments: argparse.Namespace, task: str = REGRESSION) -> list[str]:
    names = arguments.problems or problems.names(arguments.data_dir, task)
    for name in names:
        problems.check(name, arguments.data_dir)
    return names


def _rivals(arguments: argparse.Namespace, task: str = REGRESSION) -> list[str]:
    return arguments.rivals or [own.name for own in RIVALS.values() if task in own.makers]


def _tune(arguments: argparse.Namespace) -> None:
    for name in _names(arguments):
        for rival in _rivals(arguments):
            cell = {"problem": name, "rival": rival, "split": arguments.split}
            cell["folder"] = str(arguments.data_dir) if arguments.data_dir else None
            try:
                best = tune.tune(
                    cell, arguments.results / "tuned", arguments.trials, arguments.folds,
                    arguments.rows,
                )  # fmt: skip
                print(f"{name}, {rival}: {best['cv_rmse']:.5g} after {best['trials']} trials")
            except ValueError as error:
                print(f"{name}, {rival}: {error}")


def _report(results: Path, folder: Path | None) -> None:
    rows, target = Rows(results / "runs.jsonl").read(), results / "report"
    if not rows:
        raise ValueError(f"--results must be a folder with runs.jsonl in it, got {results}")
    if not paper_page.has_printed_errors(folder):
        print("without the paper's printed errors, which are in the folder of --data-dir")
    more = headline.lines(rows) + headline.repeated(rows)
    written = report.write(rows, report.FRESH, target, more)
    more = paper_page.lines(rows, folder, tune.found(results / "tuned"))
    written += report.write(rows, report.PAPER, target, more)
    written += [path for page in task_pages.PAGES for path in page.write(rows, target)]
    sizes = Rows(results / "growth.jsonl").read()
    written += growth.write(sizes, target) if sizes else []
    for path in written:
        print(f"wrote {path}")


def _confirm(results: Path, again: Path) -> None:
    if again.resolve() == results.resolve():
        raise ValueError(f"--again must be another folder than --results, got {again} for both")
    made = [again / name for name in _RUNS if (again / name).exists()]
    if not made:
        raise ValueError(f"--again must be a folder with {' or '.join(_RUNS)} in it, got {again}")
    for path in made:
        counts = confirm.confirm(Rows(results / path.name), Rows(path))
        told = ", ".join(f"{count:,} {what}" for what, count in counts.items())
        print(f"{results / path.name}: {told}")


def main() -> None:
    parser = _parser()
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that fits are ended, too
    try:
        _do(arguments)
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog} {arguments.command}: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "\nended; the same command goes on from here\n")


def _do(arguments: argparse.Namespace) -> None:
    if arguments.command == "run":
        _run(arguments)
    elif arguments.command == "tune":
        _tune(arguments)
    elif arguments.command == "growth":
        rows = Rows(arguments.results / "growth.jsonl")
        growth.measure(
            rows, tuple(arguments.rivals), arguments.timeout, splits=tuple(arguments.splits)
        )
    elif arguments.command == "confirm":
        _confirm(arguments.results, arguments.again)
    elif arguments.command == "report":
        _report(arguments.results, arguments.data_dir)
    else:
        chosen = (arguments.repetitions, arguments.relative, arguments.absolute)
        raise SystemExit(compare.main(arguments.base, *chosen, arguments.output))


if __name__ == "__main__":
    main()
