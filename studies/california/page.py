"""California housing on a page: words, tables and figures from what was measured."""

from __future__ import annotations

import numpy as np
import pandas as pd

from seplearn import explain
from studies import rivals
from studies.california import figures
from studies.california.measure import (
    MAP,
    PAPER_MODE,
    POINTS,
    REGIONS,
    Measured,
    Settings,
    model_name,
    peaks,
    stages_by_region,
)
from studies.page import Page, Shown, dollars
from studies.reading import bins_of, wander

_PAPER_DESERT = (298_745.0, -115_753.0, 149_491.0)  # stages 1 and 3, and the prediction


def page(measured: Measured, settings: Settings) -> Page:
    """The page, every number from what was measured."""
    turns = _turns(measured)
    names = (model_name(settings.stages[0]), PAPER_MODE[2])
    regions = {name: stages_by_region(measured, name) for name in names}
    shown = {
        f"{name}: mean 2D partial dependence of each stage by region, dollars": region
        for name, region in regions.items()
    }
    return Page(
        name="california",
        title="California housing: stages on the map",
        summary=_summary(measured, settings),
        claims=_claims(measured, settings, turns),
        tables={
            "turns": turns,
            "stages_by_region": pd.concat([r.assign(model=n) for n, r in regions.items()]),
            **_tables(measured, settings),
        },
        shown_tables={
            "Test RMSE": measured.errors,
            **shown,
            "1D curves: total movement over range (1 is monotone), peaks, largest value": turns,
            "Local explanations": _local_table(measured),
        },
        figures=_figures(measured, settings),
        notes=_notes(settings),
    )


def _tables(measured: Measured, settings: Settings) -> dict[str, pd.DataFrame]:
    """The tables that are files only."""
    lines = [
        pd.DataFrame({"feature": name, "value": values, **found})
        for name, (values, found) in measured.lines.items()
    ]
    points = [
        point.frame().assign(point=name, fit=fit)
        for fit, group in (("joint", measured.points), ("paper mode", measured.paper_points))
        for name, point in group.items()
    ]
    importance = explain.importance(measured.models[model_name(settings.stages[-1])], kind="paper")
    return {
        "errors": measured.errors,
        "partial_dependence": pd.concat(lines),
        "local": pd.concat(points),
        "importance": importance.stage_frame(),
        "selection": measured.selection,
    }


def _turns(measured: Measured) -> pd.DataFrame:
    rows = []
    for name, (values, found) in measured.lines.items():
        for model, curve in found.items():
            at = ", ".join(f"{place:.1f}" for place in peaks(values, curve)) or "none"
            row = {"feature": name, "model": model, "movement": wander(curve), "peaks": at}
            rows.append({**row, "largest": dollars(curve.max())})
    return pd.DataFrame(rows)


def _local_table(measured: Measured) -> pd.DataFrame:
    rows = []
    kinds = (("joint refinement", measured.points), ("paper mode", measured.paper_points))
    for kind, points in kinds:
        for name, point in points.items():
            order = np.argsort(-np.abs(point.contributions), kind="stable")[:3]
            told = "; ".join(f"stage {s} {dollars(point.contributions[s])}" for s in order)
            row = {"point": name, "fit": kind, "observed": dollars(POINTS[name][1])}
            row |= {"prediction": dollars(point.prediction), "intercept": dollars(point.intercept)}
            rows.append({**row, "largest stages": told})
    return pd.DataFrame(rows)


def _summary(measured: Measured, settings: Settings) -> list[str]:
    errors = measured.errors.set_index("model")["RMSE"]
    told = ", ".join(f"{n} stages {dollars(errors[model_name(n)])}" for n in settings.stages)
    others = [name for name in errors.index if name not in map(model_name, settings.stages)]
    rest = "; ".join(f"{name} {dollars(errors[name])}" for name in others)
    small = model_name(settings.stages[0])
    values, curves = measured.lines["latitude"]
    top = int(np.argmax(curves[small]))
    highest = measured.models[small].predict(measured.X_test).max()
    return [
        f"The paper's split (80/20, seed 42). Test RMSE without any tuning: {told}; {rest}.",
        (
            "Backbones over longitude and latitude show where a stage is switched on. A product of "
            "two curves makes bands over the whole plane, of which only the cells with rows mean "
            "something."
        ),
        (
            "Partial dependence does not know that. It moves latitude and leaves longitude where "
            f"it is, and at latitude {values[top]:.1f} the mean over such places is "
            f"{dollars(curves[small][top])} for the model with {settings.stages[0]} stages, whose "
            f"highest prediction on the test rows is {dollars(highest)}. 1D curves of products are "
            "their factors exactly, but their height in dollars is that of places that do not "
            "exist."
        ),
    ]


def _claims(measured: Measured, settings: Settings, turns: pd.DataFrame) -> list[tuple[str, str]]:
    small, large = (model_name(settings.stages[k]) for k in (0, -1))
    peaks_claim = (
        "Peaks of the first stage near longitude −118.5 and −122.5 (Los Angeles, San Francisco) "
        "and latitude 37.5."
    )
    peaks_here = (
        f"First stage, paper mode: {_peak_words(measured, PAPER_MODE[2])}. First stage of "
        f"{settings.stages[0]}, joint: {_peak_words(measured, small)}"
    )
    point_claim = (
        f"Desert point, 10 stages: the first gives {dollars(_PAPER_DESERT[0])}, the largest "
        f"correction is {dollars(_PAPER_DESERT[1])}, together {dollars(_PAPER_DESERT[2])}."
    )
    point_here = (
        f"Paper mode: {_point_words(measured.paper_points['desert'])}. Joint refinement: "
        f"{_point_words(measured.points['desert'])}. Observed: {dollars(POINTS['desert'][1])}"
    )
    desert = "The second stage takes back over the desert what the first gives too much."
    spikes = "TSL's 1D curves keep local spikes, EBM's and XGBoost's are largely monotone."
    subset = "A subset of stages gives a parsimonious model for a region without retraining."
    kept = "; ".join(_kept_words(part) for _, part in measured.selection.groupby("region"))
    return [
        (peaks_claim, peaks_here),
        (desert, _desert_words(measured, small)),
        (spikes, _movement_words(measured, turns)),
        (point_claim, point_here),
        (
            "The most important features are latitude, longitude and median income.",
            (
                f"By the paper's measure: {_leading(measured, PAPER_MODE[10])}; "
                f"{_leading(measured, large)}"
            ),
        ),
        (subset, kept),
    ]


def _leading(measured: Measured, name: str) -> str:
    """The three features of the largest importance."""
    importance = explain.importance(measured.models[name], kind="paper")
    order = np.argsort(-importance.combined, kind="stable")[:3]
    return f"{name}: {', '.join(importance.names[j] for j in order)}"


def _movement_words(measured: Measured, turns: pd.DataFrame) -> str:
    """How much the 1D curves of every model turn."""
    by = turns.set_index(["feature", "model"])["movement"]
    told = [
        f"{feature}: " + "; ".join(f"{model} {by[feature, model]:.1f}" for model in found)
        for feature, (_, found) in measured.lines.items()
    ]
    return "Movement over range (1 is monotone), " + ". ".join(told)


def _peak_words(measured: Measured, name: str) -> str:
    """Where partial dependence of the first stage has peaks."""
    told = []
    for feature in MAP:
        dependence = explain.partial_dependence(measured.models[name], feature)
        values = measured.lines[feature][0]
        curve = dependence.stages[0][bins_of(dependence.axes[0], values)]
        at = ", ".join(f"{place:.1f}" for place in peaks(values, curve)) or "none"
        told.append(f"{feature} {at}")
    return "; ".join(told)


def _desert_words(measured: Measured, small: str) -> str:
    """What the stages of the two small models come to in the desert."""
    told = []
    for name in (PAPER_MODE[2], small):
        table = stages_by_region(measured, name).set_index("region")
        if "eastern desert" in table.index:
            row = table.loc["eastern desert"].drop("rows")
            told.append(f"{name}: " + ", ".join(f"{s} {dollars(v)}" for s, v in row.items()))
    return f"Mean 2D partial dependence there: {'; '.join(told) or 'no rows'}"


def _point_words(point: explain.LocalExplanation) -> str:
    """A waterfall in words."""
    first, down = point.contributions[0], float(point.contributions.min())
    correction = f"largest correction {dollars(down)}" if down < 0 else "no stage takes away"
    return f"first stage {dollars(first)}, {correction}, together {dollars(point.prediction)}"


def _kept_words(part: pd.DataFrame) -> str:
    """How many stages a region needs to come within 5 % of the whole model there."""
    whole, region = part["whole model"].iloc[0], part["region"].iloc[0]
    counts = []
    for column in ("as they are", "refitted"):
        enough = part[part[column] <= 1.05 * whole]
        counts.append(str(enough["stages kept"].min()) if len(enough) else "more than all")
    return (
        f"{region}: within 5 % of the whole model ({dollars(whole)}) with {counts[0]} stages as "
        f"they are, {counts[1]} refitted"
    )


def _figures(measured: Measured, settings: Settings) -> list[Shown]:
    small, large = (measured.models[model_name(settings.stages[k])] for k in (0, -1))
    lines = (
        "1D partial dependence on latitude and longitude, every model over the same rows. The axis "
        "ends at $700,000; how high the curves go is in the table above."
    )
    selection = (
        "Test RMSE in a region against the number of stages kept, those with the largest mean "
        "contributions there first."
    )
    leading = ("latitude", "longitude", "medianIncome")
    return [
        *_maps(measured, settings),
        Shown("pd_1d", figures.lines(measured.lines), lines),
        Shown(
            "products", figures.products(small, leading), "Both products of each stage, dollars."
        ),
        Shown("importance", figures.importance(large), "Importance, the model with most stages."),
        *(
            Shown(f"local_{name}", figures.local(point), f"The {name} point, stage by stage.")
            for name, point in measured.points.items()
        ),
        Shown("selection", figures.selection(measured.selection), selection),
    ]


def _maps(measured: Measured, settings: Settings) -> list[Shown]:
    """Every model's stages over longitude and latitude."""
    surfaces = (
        "The model with the fewest stages, a row each: backbone and tilt (a single product has "
        "none) over longitude and latitude, and 2D partial dependence in dollars. Faded cells are "
        "far from any row."
    )
    paper = (
        "The paper's mode, 2 stages, at the training rows: backbone (relative to the stage's "
        "largest) and 2D partial dependence (green adds, pink takes; dollars), colours logarithmic."
    )
    first, *others = settings.stages
    shown = [
        Shown(f"map_{first}", figures.surfaces(measured.models[model_name(first)], MAP), surfaces),
        Shown(
            "map_paper",
            figures.stage_maps(measured.models[PAPER_MODE[2]], measured.X, MAP),
            paper,
        ),
    ]
    for n in others:
        drawn = figures.stage_maps(measured.models[model_name(n)], measured.X, MAP)
        shown.append(Shown(f"map_{n}", drawn, f"{n} stages at the training rows, drawn likewise."))
    return shown


def _notes(settings: Settings) -> list[str]:
    notes = [
        (
            "Stages are counted from zero here and from one in the paper. Joint refinement shares "
            "the price out among all stages, and its `energy` makes stages that cancel expensive, "
            "so there is little to take back."
        ),
        (
            f"The paper's mode has {settings.n_grids} grids a stage and the untuned parameters of "
            "`TSLRegressor.paper`; the paper has 200 and 500 and tunes."
        ),
        "The regions: "
        + "; ".join(
            f"{name} ({', '.join(f'{k} {a} to {b}' for k, (a, b) in region.items())})".replace(
                "None", "the end"
            )
            for name, region in REGIONS.items()
        )
        + ".",
        f"Rivals' partial dependence is a mean over {settings.n_background} training rows.",
    ]
    if "EBM" in settings.rivals and not rivals.missing(["EBM"]):
        notes.append(f"EBM has {settings.ebm_bags} outer bags instead of 14, to save time.")
    return notes + rivals.missing_note(settings.rivals)
