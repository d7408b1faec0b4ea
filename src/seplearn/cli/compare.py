"""The command that shows two saved models side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seplearn.cli.cells import missing_option
from seplearn.cli.classes import class_views, of_several
from seplearn.cli.lines import say
from seplearn.cli.model_rows import offset_column, offset_option, with_target
from seplearn.cli.tables import check_output, in_a_file, open_model
from seplearn.cli.text import number, shortened, table, wrapped
from seplearn.estimators.base import SeparationEstimator
from seplearn.explain import Comparison
from seplearn.explain import compare as compared
from seplearn.report import write_comparison


@click.command()
@click.argument("first")
@click.argument("second")
@click.argument("data", metavar="TABLE")
@click.option("-o", "--output", help="Write a page with curves and rows too: an .html file.")
@click.option(
    "--target",
    help="The column with the outcomes; by default the one the models were fitted to, if it is "
    "there.",
)
@click.option("--title", help="Heading of the page.")
@click.option(
    "--class",
    "label",
    metavar="LABEL",
    help="Of models of more than two classes, with --against: the class whose log-odds are "
    "compared.",
)
@click.option("--against", metavar="LABEL", help="With --class: the other class.")
@offset_option
@missing_option
def compare(
    first: str, second: str, data: str, output: str | None, target: str | None, title: str | None,
    label: str | None, against: str | None, offset: str | None, missing: tuple[str, ...],
) -> None:  # fmt: skip
    """Compare two models, FIRST and SECOND, on the rows of TABLE.

    How good they are and whether that is chance (TABLE should have rows that neither was fitted
    to), where their predictions differ most, and which features make them differ. Models of more
    than two classes are compared by the log-odds between two of them, without errors; seplearn
    evaluate has those.

    \b
    seplearn compare old.tsl new.tsl unseen.csv -o diff.html
    seplearn compare old.tsl new.tsl unseen.csv --class rain --against snow
    """  # noqa: D301
    if output is not None:
        check_output(output, (first, second, data))
    in_a_file("TABLE", data)
    models = open_model(first), open_model(second)
    shown = _sum_of(models[0], label, against), _sum_of(models[1], label, against)
    wanted = target or models[0].target_name_
    # What is missing for one of them is missing for both, whichever comes first.
    missing = tuple(text for model in models for text in model.missing_texts_) + missing
    given = [
        with_target(model, data, target, missing, offset_column(model, offset)) for model in models
    ]
    features = given[0].features, given[1].features  # each as its model reads the columns
    names = _names(first, second)
    y = given[0].y if wanted == (target or models[1].target_name_) else None
    if label is not None:
        y = None  # an error is of all classes
    added = given[0].offset, given[1].offset
    if output is None:
        result = compared(*shown, features, y, offset=added, models=names)
    else:
        options = {"offset": added, "models": names, "title": title}
        result = write_comparison(*shown, output, features, y, **options)  # type: ignore[arg-type]
    say(_text(result))
    if output is not None:
        say(f"wrote {output}", err=True)


def _sum_of(model: SeparationEstimator, label: str | None, against: str | None) -> Any:
    """What is compared: the model, or of several classes the log-odds between two.

    Not the score of a class: only differences of scores have a meaning that models share.
    """
    several = of_several(model)
    if several is not None and (label is None or against is None):
        raise ValueError(
            "--class and --against must name two of the classes "
            f"{', '.join(map(str, several.classes_.tolist()))} of a model of more than two: their "
            f"log-odds are compared; got {label or 'none'} and {against or 'none'}"
        )
    ((_, shown),) = class_views(model, label, against)
    return shown


def _names(first: str, second: str) -> tuple[str, str]:
    """The names of the files, or where these are the same, their paths."""
    one, other = Path(first).stem, Path(second).stem
    if one != other:
        return one, other
    return (first, second) if first != second else (f"{first} (first)", f"{second} (second)")


def _text(result: Comparison) -> str:
    parts = [wrapped(sentence) for sentence in result.sentences]
    if result.scores is not None:
        one, other = result.scores
        errors = [(name, number(one[name]), number(other[name])) for name in one if name in other]
        head = ("", *(shortened(name, 24) for name in result.models))
        parts.append(table(head, errors, right=(1, 2)))
    rows = [
        (shortened(name), number(size))
        for name, size in zip(result.names, result.sizes.tolist(), strict=True)
        if size > 0.0 and result.differ
    ][:10]
    if rows:
        parts.append(table(("feature", "does differently"), rows, right=(1,)))
    worst = [
        [str(row), *(number(value) for value in result.predictions[:, row])]
        for row in result.worst[:5].tolist()
    ]
    if not result.differ:
        return "\n\n".join(parts)
    head = ("row", *(shortened(name, 24) for name in result.models))
    parts.append("Rows that differ most:\n\n" + table(head, worst, right=(0, 1, 2)))
    return "\n\n".join(parts)
