"""``seplearn explain``: why a row has its prediction, and what would change it."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
import pyarrow as pa

from seplearn import explain as explanations
from seplearn._numerals import count, percent
from seplearn._rules import is_real
from seplearn.cli.cells import missing_option
from seplearn.cli.classes import against_option, class_option, class_views, of_several
from seplearn.cli.lines import printable, say, say_json
from seplearn.cli.model_rows import one_row
from seplearn.cli.parameters import directions
from seplearn.cli.tables import open_model
from seplearn.cli.text import number, shortened, signed, sum_text, waterfall, wrapped
from seplearn.cli.text import table as text_table
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.classifier import TSLClassifier
from seplearn.explain.counterfactual import Counterfactual
from seplearn.explain.local import LocalExplanation
from seplearn.explain.nearest import Change
from seplearn.explain.shapley import ShapleyValues
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import IDENTITY
from seplearn.table.columns import is_missing

_MOST_STAGES = 12
_MOST_FEATURES = 8
_MOST_LIKELY = 10  # classes that are listed beside the one explained
_MOST_CHANGES = 10


@click.command()
@click.argument("model")
@click.argument("table")
@click.option(
    "--row", default=0, show_default=True, type=click.IntRange(0), help="Which row, from 0."
)
@class_option
@against_option
@click.option(
    "--wanted",
    metavar="VALUE",
    help="Say what would have to be different for this prediction: a number, of a classifier a "
    "probability (of more than two classes that of --class) or a class.",
)
@click.option(
    "--fixed",
    multiple=True,
    metavar="COLUMN",
    help="With --wanted: a feature that stays as it is; of several, repeat the option: --fixed age "
    "--fixed gender.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="COLUMN=up|down",
    help="With --wanted: a feature of numbers that may only rise, or only fall: --only age=up.",
)
@click.option("--json", "as_json", is_flag=True, help="All numbers as JSON instead of a drawing.")
@missing_option
def explain(
    model: str, table: str, row: int, label: str | None, against: str | None,
    wanted: str | None, fixed: tuple[str, ...], only: tuple[str, ...], as_json: bool,
    missing: tuple[str, ...],
) -> None:  # fmt: skip
    """Say why MODEL predicts what it does for one row of TABLE.

    First what every feature does to the prediction, beside the average row (exact Shapley values);
    then how the stages of the model come to it. With --wanted also the smallest changes of one or
    two features after which the prediction would be that. Of a model of more than two classes it is
    the score of the most likely class that is explained, or of the one that --class names.

    \b
    seplearn explain rent.tsl new.csv --row 3
    seplearn explain rent.tsl new.csv --row 3 --wanted 900 --fixed district --only year=up
    seplearn explain weather.tsl new.csv --class rain --against snow
    seplearn explain weather.tsl new.csv --class rain --wanted 0.5
    """  # noqa: D301
    limits = _limits(wanted, fixed, only)
    estimator = open_model(model)
    several = of_several(estimator)
    views = class_views(estimator, label, against)
    features = one_row(estimator, table, row, missing)
    likeliest = estimator.predict(features).tolist()[0] if several else None
    own, view = next((one for one in views if one[0] == likeliest), views[0])
    local = explanations.local(view, features)
    shapley = None
    if estimator.model_.reference is not None:
        shapley = explanations.shapley(view, features)
    changes = None
    if wanted is not None:
        known = None if label is None else own
        goal = _goal(estimator, wanted, known, None if against is None else view)
        changes = explanations.counterfactual(X=features, **limits, **goal)
    added = estimator.offset_column_
    if as_json:
        plain = _as_json(local, shapley, changes, row)
        plain |= {"without_offset": None if added is None else added.name}
        say_json(plain | _probabilities(several, features))
        return
    if several is None:
        _say_prediction(estimator, local, row)
    else:
        _say_classes(several, features, row)
        if against is not None:
            say(f"{sum_text(view, local.prediction)}\n")
    if shapley is not None:
        say(f"{_by_feature(shapley, local)}\n\nHow the parts of the model come to it:\n")
    say(waterfall(_steps(local), local.intercept, local.quantity))
    if len(local.contributions):
        say(f"\n{_features(local)}")
    if changes is not None:
        without = "" if added is None else f"Without what {added.name!r} adds:\n\n"
        say(f"\n{without}{_changes_text(changes)}")
    if local.remarks:
        say("")
    for name, remark in local.remarks.items():
        say(f"{shortened(name)}: {remark}")
    curves_to_read = count(estimator.reading_size_, "curve")
    say(f"\nThe whole model has {curves_to_read} to read: seplearn summary {model}")


def _say_prediction(estimator: SeparationEstimator, local: LocalExplanation, row: int) -> None:
    target = printable(f" of {estimator.target_name_}" if estimator.target_name_ else "")
    if estimator.model_.link is IDENTITY:
        say(f"row {row}: prediction{target} {number(local.prediction)}")
    else:
        say(f"row {row}{target and f',{target[3:]}'}: {sum_text(estimator, local.prediction)}")
    own = estimator.offset_column_
    say("" if own is None else f"without what {own.name!r} adds\n")


def _say_classes(several: TSLClassifier, features: pa.Table, row: int) -> None:
    """The most likely classes of a row, with their probabilities."""
    name = f", {several.target_name_}" if several.target_name_ else ""
    shares = several.predict_proba(features)[0]
    likely = np.argsort(-shares, kind="stable")
    labels = several.classes_.tolist()
    listed = [[shortened(str(labels[k]), 24), number(shares[k])] for k in likely[:_MOST_LIKELY]]
    say(f"row {row}{name}: {labels[int(likely[0])]} is most likely\n")
    say(text_table(("class", "probability"), listed, right=(1,)))
    rest = len(labels) - len(listed)
    if rest:
        others = number(float(shares[likely[_MOST_LIKELY:]].sum()))
        say(f"and {others} for the other {rest} together")
    say("")


def _probabilities(several: TSLClassifier | None, features: pa.Table) -> dict[str, Any]:
    if several is None:
        return {}
    labels = [str(label) for label in several.classes_.tolist()]
    shares = several.predict_proba(features)[0].tolist()
    return {"probabilities": dict(zip(labels, shares, strict=True))}


def _limits(wanted: str | None, fixed: tuple[str, ...], only: tuple[str, ...]) -> dict[str, Any]:
    """What may not change, or one way only, as arguments."""
    for option, given in (("--fixed", fixed), ("--only", only)):
        if given and wanted is None:
            raise ValueError(f"{option} must come with --wanted, got {', '.join(given)} alone")
    return {"fixed": fixed, "directions": directions(only, "--only")}


def _goal(estimator: SeparationEstimator, wanted: str, own: Any, pair: Any) -> dict[str, Any]:
    """What a text on the command line means, as arguments: a class, or a number and whose it is.

    Of more than two classes a number is the probability of the class ``own``, or, beside another
    class alone, of what ``pair`` shows.
    """
    labels = estimator.classes_.tolist() if isinstance(estimator, TSLClassifier) else []
    for label in labels:
        if str(label) == wanted:
            return {"model": estimator, "target": label}
    takes_class = of_several(estimator) is not None and own is None
    try:
        value = float(wanted)
    except ValueError:
        value = None
    if value is None or takes_class:
        known = f" or one of the classes {', '.join(map(str, labels))}" if labels else ""
        number_rule = "with --class a probability" if takes_class else "a number"
        raise ValueError(f"--wanted must be {number_rule}{known}, got {wanted!r}")
    if pair is not None:
        return {"model": pair, "target": value}
    return {"model": estimator, "target": value, "label": own}


def _by_feature(shapley: ShapleyValues, local: LocalExplanation) -> str:
    """From the average to the prediction, feature by feature."""
    values = shapley.values[0]
    names = [
        f"{shortened(name, 24)} = {shortened(value, 16)}"
        for name, value in zip(local.names, local.values, strict=True)
    ]
    order = np.argsort(-np.abs(values), kind="stable")
    shown = [int(j) for j in order[:_MOST_STAGES] if values[j] != 0.0]
    steps = [(names[j], float(values[j])) for j in shown]
    rest = int((values != 0.0).sum()) - len(shown)
    if rest:
        steps.append((count(rest, "other feature"), float(values.sum() - values[shown].sum())))
    what = f"What every feature does to the {local.quantity}, beside the average of the rows that "
    said = wrapped(f"{what}the model keeps (exact Shapley values):")
    return f"{said}\n\n{waterfall(steps, shapley.base, local.quantity, 'average')}"


def _changes_text(result: Counterfactual) -> str:
    """What would have to be different, in a table."""
    if not result.changes and not result.nearest:
        return wrapped(result.why_none)
    rows = [
        [
            " and ".join(shortened(text, 60) for text in change.texts),
            number(change.prediction),
            percent(change.size),
        ]
        for change in (result.changes or result.nearest)[:_MOST_CHANGES]
    ]
    head = ["change", shortened(result.response), "size"]
    first = f"For {result.goal} one of these would do."
    if not result.changes:
        first = f"{result.why_none} These come nearest."
    said = f"{first} How large a change is, is counted in the training rows between the values."
    return f"{wrapped(said)}\n\n{text_table(head, rows, right=(1, 2))}"


def _steps(local: LocalExplanation) -> list[tuple[str, float]]:
    """The largest main effects and stages by name, the others in one step each."""
    steps = []
    if local.effects.any():
        own = np.flatnonzero(local.effects)  # most features have none: a curve that is left out
        names = [f"main effect of {shortened(local.names[j], 24)}" for j in own]
        steps += _largest(local.effects[own], names, _MOST_FEATURES, "other main effect")
    names = [f"stage {s}: {shortened(name, 24)}" for s, name in enumerate(local.stage_names)]
    return steps + _largest(local.contributions, names, _MOST_STAGES, "other stage")


def _largest(
    values: FloatArray, names: list[str], most: int, others: str
) -> list[tuple[str, float]]:
    largest = np.sort(np.argsort(-np.abs(values), kind="stable")[:most])
    steps = [(names[k], float(values[k])) for k in largest]
    rest = len(values) - len(largest)
    if rest:
        steps.append((count(rest, others), float(values.sum() - values[largest].sum())))
    return steps


def _features(local: LocalExplanation) -> str:
    """What the features of the stage that contributes most do in it."""
    s = int(np.argmax(np.abs(local.contributions)))
    stage = f"stage {s} ({local.stage_names[s]})"
    log_backbone, tilt = np.log(local.backbone[s]), local.tilt[s]
    if np.isnan(log_backbone).all() and np.isnan(tilt).all():
        return f"Factors of {stage}, which contributes most, have signs: no backbone, no tilt."
    sizes = np.abs(np.nan_to_num(log_backbone)) + np.abs(np.nan_to_num(tilt))
    rows = [
        [
            shortened(local.names[j]),
            shortened(local.values[j], 24),
            "" if np.isnan(log_backbone[j]) else f"x {number(local.backbone[s, j])}",
            "" if np.isnan(tilt[j]) else signed(tilt[j]),
        ]
        for j in np.argsort(-sizes, kind="stable")[:_MOST_FEATURES]
        if sizes[j] > 0.0
    ]
    what = (
        f"{stage[0].upper()}{stage[1:]} contributes most. In it the backbone of a feature "
        "multiplies the size"
    )
    head = ["feature", "value", "backbone"]
    if np.isnan(tilt).all():
        rows = [row[:3] for row in rows]
    else:
        what += (
            ", and the tilts of all features add up to the direction: up if positive, down if "
            "negative"
        )
        head.append("tilt")
    return f"{wrapped(what + '.')}\n\n" + text_table(head, rows, right=(2, 3))


def _as_json(
    local: LocalExplanation,
    shapley: ShapleyValues | None,
    changes: Counterfactual | None,
    row: int,
) -> dict[str, object]:
    return {
        "row": row,
        "quantity": local.quantity,
        "prediction": local.prediction,
        "intercept": local.intercept,
        "values": dict(zip(local.names, local.values, strict=True)),
        "remarks": local.remarks,
        "shapley": None
        if shapley is None
        else {
            "average": shapley.base,
            "values": dict(zip(local.names, shapley.values[0].tolist(), strict=True)),
        },
        "changes": None if changes is None else _changes_json(changes),
        "main_effects": dict(zip(local.names, local.effects.tolist(), strict=True)),
        "stages": [
            {
                "stage": s,
                "stage_name": local.stage_names[s],
                "contribution": float(local.contributions[s]),
                "backbone": dict(zip(local.names, local.backbone[s].tolist(), strict=True)),
                "tilt": dict(zip(local.names, local.tilt[s].tolist(), strict=True)),
            }
            for s in range(len(local.contributions))
        ],
    }


def _changes_json(result: Counterfactual) -> dict[str, object]:
    def plain(values: tuple[Any, ...]) -> list[object]:
        numbers = [float(value) if is_real(value) else value for value in values]
        return [None if is_missing(value) else value for value in numbers]

    def as_plain(change: Change) -> dict[str, object]:
        return {
            "features": list(change.names),
            "before": plain(change.before),
            "after": plain(change.after),
            "size": change.size,
            "prediction": change.prediction,
        }

    return {
        "wanted": result.wanted,
        "is_reached": result.is_reached,
        "changes": [as_plain(change) for change in result.changes],
        "nearest": [as_plain(change) for change in result.nearest],
    }
