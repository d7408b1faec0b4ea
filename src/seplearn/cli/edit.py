"""The commands that make a model of saved ones: edit and merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from seplearn.cli.cells import missing_option
from seplearn.cli.classes import known_label, of_several
from seplearn.cli.info import size_text
from seplearn.cli.lines import printable, say
from seplearn.cli.model_rows import offset_column, offset_option, with_target
from seplearn.cli.parameters import directions
from seplearn.cli.tables import check_output, open_model
from seplearn.editing import Edit
from seplearn.editing.edit import MAIN
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.merge import merge as merge_models

_PLACE = "COLUMN[@STAGE]"


@click.command()
@click.argument("model")
@click.argument("table", required=False)
@click.option(
    "--drop-feature", "dropped_features", multiple=True, metavar="COLUMN",
    help="Make all curves of a feature flat.",
)  # fmt: skip
@click.option("--flatten", multiple=True, metavar=_PLACE, help="Make a curve flat.")
@click.option(
    "--clip", multiple=True, nargs=3, metavar=f"{_PLACE} LOW HIGH",
    help="Hold a curve constant outside a range; - is no limit.",
)  # fmt: skip
@click.option(
    "--smooth", multiple=True, nargs=2, metavar=f"{_PLACE} SHARE",
    help="Smooth a curve by a window with this share of the rows, such as 0.1.",
)  # fmt: skip
@click.option(
    "--level", "levels", multiple=True, nargs=3, metavar=f"{_PLACE} LEVEL LIKE",
    help="Give a level the values of another one.",
)  # fmt: skip
@click.option(
    "--monotone", multiple=True, metavar="COLUMN=up|down",
    help="Let predictions only rise, or only fall, with a feature.",
)  # fmt: skip
@click.option(
    "--merge-stages", multiple=True, nargs=2, type=int, metavar="STAGE STAGE",
    help="Make one stage of two.",
)  # fmt: skip
@click.option(
    "--drop-stage", "dropped_stages", multiple=True, type=int, metavar="STAGE",
    help="Leave out a stage.",
)  # fmt: skip
@click.option(
    "--recalibrate", is_flag=True, help="Fit the constant and the scales to the rows of TABLE."
)
@click.option(
    "--target", help="The column with the outcomes; by default the one the model was fitted to."
)
@click.option("--reason", required=True, help="Why; it is kept in the model.")
@click.option("-o", "--output", required=True, help="The model file to write.")
@click.option(
    "--class", "label", metavar="LABEL",
    help="Of a model of more than two classes: the class whose score is changed. --drop-feature "
    "changes all.",
)  # fmt: skip
@offset_option
@missing_option
def edit(
    model: str, table: str | None, recalibrate: bool, target: str | None, reason: str, output: str,
    label: str | None, offset: str | None, missing: tuple[str, ...], **changes: Any,
) -> None:  # fmt: skip
    """Change MODEL by hand and write another one, which tells what was changed and why.

    STAGE is a number as `seplearn info` shows it, from 0, or main for the main effect; without it
    all curves of the column are meant. All numbers are those of MODEL. Curves are changed first, in
    the order of the options below, then stages. With TABLE, the effect on its rows is told.

    \b
    seplearn edit rent.tsl unseen.csv --clip area@0 20 120 --reason "few above" -o new.tsl
    """  # noqa: D301
    check_output(output, (model, table))
    estimator = open_model(model, for_commands=False)
    class_ = None if label is None else _class_of(estimator, label)
    session = estimator.edit()
    with _option_of_class(estimator):
        _change_curves(session, changes, class_)
        _change_stages(session, changes["merge_stages"], changes["dropped_stages"], class_)
    if recalibrate and table is None:
        raise click.UsageError("--recalibrate needs TABLE, whose rows the scales are fitted to")
    rows = None
    if table is not None:
        added = offset_column(estimator, offset)
        rows = with_target(estimator, table, target, missing, added)
    if recalibrate and rows is not None:
        if rows.y is None:
            raise ValueError(
                f"{table} must have the target, to fit scales to; --target names its column"
            )
        with _option_of_class(estimator):
            session.recalibrate(rows.features, rows.y, offset=rows.offset, label=class_)
    edited: SeparationEstimator = session.apply(reason=reason)
    if rows is not None:
        say(str(session.effect(rows.features, rows.y, offset=rows.offset)))
    edited.save(output)
    n_edits = len(edited.edits_)
    say(f"wrote {output}, edited {n_edits} time{'s' if n_edits > 1 else ''}", err=True)


@contextmanager
def _option_of_class(estimator: SeparationEstimator) -> Iterator[None]:
    """Errors name the option where Python has an argument."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("label must be one of"):
            raise
        labels = ", ".join(str(label) for label in getattr(estimator, "classes_", ()))
        raise ValueError(
            "--class must be given for what belongs to one class, such as a stage or a scale: one "
            f"of {labels}"
        ) from error


def _class_of(estimator: SeparationEstimator, label: str) -> Any:
    several = of_several(estimator)
    if several is None:
        raise ValueError("--class is for models of more than two classes, this one has one sum")
    return known_label(several, "--class", label)


def _change_curves(session: Edit, changes: dict[str, Any], class_: Any) -> None:
    if class_ is not None and changes["dropped_features"]:
        raise click.UsageError(
            "--drop-feature changes all classes and goes without --class; --flatten is for one"
        )
    if class_ is not None and changes["monotone"]:
        raise click.UsageError("--monotone is not for models of more than two classes")
    for column in changes["dropped_features"]:
        session.drop_feature(column)
    for place in changes["flatten"]:
        session.flatten(**_place(place, session, class_))
    for place, low, high in changes["clip"]:
        limits = tuple(None if end == "-" else _number("--clip", end) for end in (low, high))
        session.clip(limits=limits, **_place(place, session, class_))
    for place, share in changes["smooth"]:
        session.smooth(share=_number("--smooth", share), **_place(place, session, class_))
    for place, level, like in changes["levels"]:
        session.set_level(level=level, like=like, **_place(place, session, class_))
    for column, direction in (directions(changes["monotone"]) or {}).items():
        session.make_monotone(column, direction)


def _change_stages(
    session: Edit, merged: Sequence[tuple[int, int]], dropped: Sequence[int], class_: Any
) -> None:
    """Merge and drop stages by the numbers they had at first."""
    if not (merged or dropped):
        return
    left = list(range(session.n_stages(class_)))

    def now(stage: int) -> int:
        if not left:
            of = "the model" if class_ is None else f"class {class_}"
            raise ValueError(f"{of} has no stage (left), got {stage}")
        if stage not in left:
            raise ValueError(f"stages must be among those left, {left}, got {stage}")
        return left.index(stage)

    for first, second in merged:
        session.merge_stages(now(first), now(second), label=class_)
        left.remove(max(first, second))
    for stage in dropped:
        session.drop_stage(now(stage), label=class_)
        left.remove(stage)


def _place(text: str, session: Edit, class_: Any) -> dict[str, Any]:
    """A column and a stage, or all of them, of the class that is meant."""
    column, _, stage = text.rpartition("@")
    of_class = {} if class_ is None else {"label": class_}
    if text in session.feature_names or not column:  # a column may have any name
        return {"feature": text, **of_class}
    if stage == MAIN:
        return {"feature": column, "stage": MAIN, **of_class}
    if stage.isdecimal():
        return {"feature": column, "stage": int(stage), **of_class}
    return {"feature": text, **of_class}


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{option} must have numbers after the column, got {text!r}") from None


@click.command()
@click.argument("models", nargs=-1, required=True)
@click.option(
    "--weight", "weights", multiple=True, type=float, metavar="NUMBER",
    help="Of a model, in the order of MODELS: one for each, or none for equal ones.",
)  # fmt: skip
@click.option("--reason", default="an average", show_default=True, help="Kept in the model.")
@click.option("-o", "--output", required=True, help="The model file to write.")
def merge(models: tuple[str, ...], weights: tuple[float, ...], reason: str, output: str) -> None:
    """Write the average of MODELS, which must have the same columns and the same loss.

    Logs of counts and log-odds are averaged, not counts and probabilities.

    \b
    seplearn merge north.tsl south.tsl --weight 1 --weight 3 -o both.tsl
    """  # noqa: D301
    check_output(output, models)
    estimators = [open_model(model, for_commands=False) for model in models]
    merged = merge_models(estimators, weights or None, reason=reason)
    merged.save(output)
    names = printable(", ".join(models))
    say(f"wrote {output}, the average of {names}: {size_text(merged)}", err=True)
