"""Entry point of the measurements: ``python -m benchmarks run`` and other commands."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import compare, data, growth, paper_page, problems, report, run, tune
from benchmarks.rivals import RIVALS
from benchmarks.rows import Rows

RESULTS = Path(__file__).parent / "results"


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", type=Path, default=data.DEFAULT_FOLDER)
    parser.add_argument("--problems", nargs="*", help="default: all of the folder, or of OpenML")
    parser.add_argument("--rivals", nargs="*", choices=list(RIVALS), default=list(RIVALS))
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fits = commands.add_parser("run", help="fit models, one row per fit; resumes")
    _common(fits)
    fits.add_argument("--splits", nargs="*", type=int, default=[0])
    fits.add_argument("--tag", choices=["default", "published", "tuned"], default="default")
    fits.add_argument("--timeout", type=float, default=1200.0, help="seconds a fit may take")
    fits.add_argument("--jobs", type=int, default=1, help="fits at a time; times suffer from it")
    tuning = commands.add_parser("tune", help="search parameters on the training part; resumes")
    _common(tuning)
    tuning.add_argument("--split", type=int, default=report.PAPER_SPLIT)
    tuning.add_argument("--trials", type=int, default=200)
    tuning.add_argument("--rows", type=int, help="training rows at most, drawn at random")
    tuning.add_argument("--folds", type=int, default=tune.N_FOLDS)
    sizes = commands.add_parser("growth", help="time and memory against rows and features; resumes")
    sizes.add_argument("--rivals", nargs="*", choices=growth.RIVALS, default=list(growth.RIVALS))
    sizes.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    sizes.add_argument("--timeout", type=float, default=900.0, help="seconds a fit may take")
    tables = commands.add_parser("report", help="tables and figures from the rows")
    tables.add_argument("--data-dir", type=Path, default=data.DEFAULT_FOLDER)
    tables.add_argument("--results", type=Path, default=RESULTS)
    two = commands.add_parser("compare", help="time the working tree beside a revision")
    two.add_argument("--base", required=True, help="a revision of git")
    two.add_argument("--repetitions", type=int, default=5)
    two.add_argument("--relative", type=float, default=compare.RELATIVE, help="share")
    two.add_argument("--output", type=Path, help="a file for the table, besides the terminal")
    two.add_argument("--absolute", type=float, default=compare.ABSOLUTE, help="seconds")
    return parser


def _run(arguments: argparse.Namespace) -> None:
    names = arguments.problems or problems.names(arguments.data_dir)
    params = None
    if arguments.tag == "tuned":
        params = tune.tuned(arguments.results / "tuned", report.PAPER_SPLIT)
    elif arguments.tag == "published":
        published = data.tuned_parameters(arguments.data_dir)
        params = {
            (name, rival.name): published[name][rival.published]["params"]
            for name in names
            for rival in RIVALS.values()
            if rival.published in published.get(name, {})
        }
    todo = run.cells(
        names, arguments.splits, arguments.rivals, folder=arguments.data_dir,
        tag=arguments.tag, params=params,
    )  # fmt: skip
    rows = Rows(arguments.results / "runs.jsonl")
    count = run.run(todo, rows, timeout=arguments.timeout, jobs=arguments.jobs)
    print(f"{count} new rows in {rows.path}")


def _tune(arguments: argparse.Namespace) -> None:
    for name in arguments.problems or problems.names(arguments.data_dir):
        for rival in arguments.rivals:
            cell = {"problem": name, "rival": rival, "split": arguments.split}
            cell["folder"] = str(arguments.data_dir)
            try:
                best = tune.tune(
                    cell, arguments.results / "tuned", arguments.trials, arguments.folds,
                    arguments.rows,
                )  # fmt: skip
                print(f"{name}, {rival}: {best['cv_rmse']:.5g} after {best['trials']} trials")
            except ValueError as error:
                print(f"{name}, {rival}: {error}")


def _report(results: Path, folder: Path) -> None:
    rows, target = Rows(results / "runs.jsonl").read(), results / "report"
    written = report.write(rows, report.FRESH, target)
    written += report.write(rows, report.PAPER, target, paper_page.lines(rows, folder))
    sizes = Rows(results / "growth.jsonl").read()
    written += growth.write(sizes, target) if sizes else []
    for path in written:
        print(f"wrote {path}")


def main() -> None:
    arguments = _parser().parse_args()
    if arguments.command == "run":
        _run(arguments)
    elif arguments.command == "tune":
        _tune(arguments)
    elif arguments.command == "growth":
        rows = Rows(arguments.results / "growth.jsonl")
        growth.measure(rows, tuple(arguments.rivals), arguments.timeout)
    elif arguments.command == "report":
        _report(arguments.results, arguments.data_dir)
    else:
        chosen = (arguments.repetitions, arguments.relative, arguments.absolute)
        raise SystemExit(compare.main(arguments.base, *chosen, arguments.output))


if __name__ == "__main__":
    main()
