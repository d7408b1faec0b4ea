"""One prediction, explained: what main effects and stages add, what gates and turns a stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from seplearn._numerals import number_text
from seplearn._rules import check_level
from seplearn.explain.axes import remark, row_texts
from seplearn.explain.products import rest_of_products
from seplearn.explain.result import Explanation, band_of
from seplearn.explain.sizes import shares
from seplearn.explain.subject import Subject, check_position
from seplearn.kernels.arrays import CodeArray, FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.reading import brief
from seplearn.table.columns import Table, make_frame, open_table


@dataclass(frozen=True, eq=False, repr=False)
class LocalExplanation(Explanation):
    """The prediction of one row: ``intercept + effects.sum() + contributions.sum()``.

    Attributes
    ----------
    names, values : tuple of str
        The features and the row's values.
    stage_names : tuple of str
        The features that every stage depends on.
    prediction, intercept : float
        Of a classifier log-odds, with a log link logs: what contributions add up to.
    response : str
        What is predicted on its own scale: "prediction", or "probability of" a class.
    response_value : float
        How much of it: the probability, the rate or the amount, without what offsets add.
    effects : array of shape (p,)
        The main effect of every feature; zeros for a model without main effects.
    contributions : array of shape (n_stages,)
        What every stage adds to the prediction, in the unit of y.
    plus, minus : array of shape (n_stages,)
        The two products of every stage at the row; ``contributions`` is their difference.
    backbone : array of shape (n_stages, p)
        b_j(x_j): above one the feature makes the stage larger, below one smaller. NaN in a stage
        without backbone.
    tilt : array of shape (n_stages, p)
        d_j(x_j): which way the feature turns the stage; NaN in a stage without tilt.
    backbone_scale, tilt_intercept : array of shape (n_stages,)
        b_0 and d_0 of every stage.
    bands : array of shape (2, n_stages), or None
        Bootstrap bands of the contributions.
    effect_bands : array of shape (2, p), or None
        Bootstrap bands of the main effects.
    interval : array of shape (2,), or None
        Bootstrap interval of the prediction.
    remarks : dict of str to str
        Features whose value no training row is like (out of range, a new level, missing for the
        first time), and what is made of it.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> local = explain.local(model, X, row=3)
    >>> bool(abs(local.plus - local.minus - local.contributions).max() < 1e-9)
    True
    >>> local.feature_frame().shape
    (3, 7)
    """

    _figure: ClassVar[str] = "plot_local"

    names: tuple[str, ...]
    values: tuple[str, ...]
    stage_names: tuple[str, ...]
    prediction: float
    intercept: float
    effects: FloatArray
    contributions: FloatArray
    plus: FloatArray
    minus: FloatArray
    backbone: FloatArray
    tilt: FloatArray
    backbone_scale: FloatArray
    tilt_intercept: FloatArray
    bands: FloatArray | None = None
    effect_bands: FloatArray | None = None
    interval: FloatArray | None = None
    remarks: dict[str, str] = field(default_factory=dict)
    response: str = field(default="prediction", kw_only=True)
    response_value: float = field(default=np.nan, kw_only=True)

    @property
    def told(self) -> list[tuple[str, float]]:
        """The sum by its name and, where they differ, the prediction on its own scale."""
        own = [(self.quantity, self.prediction), (self.response, self.response_value)]
        return own[: 1 if self.response == self.quantity else 2]

    @property
    def backbone_share(self) -> FloatArray:
        """``|log b_j(x_j)|`` as a share of the sum over features, shape (n_stages, p).

        How much of a stage's size at this row is due to each feature; zeros in a stage that
        no feature gates.
        """
        sizes = np.abs(np.log(np.nan_to_num(self.backbone, nan=1.0)))
        return np.array([shares(row) for row in sizes]).reshape(sizes.shape)

    def other_share(self, tolerance: float = 0.05) -> FloatArray:
        """What features with a share below ``tolerance`` come to together, shape (n_stages,)."""
        share = self.backbone_share
        other: FloatArray = np.where(share < tolerance, share, 0.0).sum(axis=1)
        return other

    def __str__(self) -> str:
        """What adds up to the prediction, a line each, and what is remarkable about the row."""
        acting = np.argsort(-np.abs(self.effects), kind="stable")
        steps = [
            (f"main effect of {brief(self.names[j])} ({self.values[j]})", self.effects[j])
            for j in acting
            if self.effects[j] != 0.0
        ]
        named = enumerate(zip(self.stage_names, self.contributions, strict=True))
        steps += [(f"stage {s}: {name}", value) for s, (name, value) in named]
        lines = [("constant", number_text(self.intercept, 4))]
        lines += [(name, f"{'+' if v > 0 else ''}{number_text(v, 4)}") for name, v in steps]
        lines += [(name, number_text(value, 4)) for name, value in self.told]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        told = [f"{name:<{widths[0]}}  {value:>{widths[1]}}" for name, value in lines]
        return "\n".join([*told, *(f"{name}: {text}" for name, text in self.remarks.items())])

    def _columns(self) -> dict[str, Any]:
        """One row per stage, then main effects, the intercept last.

        ``contribution`` sums to the prediction. Only with main effects there is a column
        ``feature``, which says whose they are.
        """
        n = len(self.contributions)
        features = self.names if self.effects.any() else ()
        effects = self.effects[: len(features)]
        nothing = np.full(len(features) + 1, np.nan)
        columns: dict[str, Any] = {
            "stage": [*(str(s) for s in range(n)), *("main effect" for _ in features), "intercept"],
            "stage_name": [*self.stage_names, *("" for _ in features), ""],
            "contribution": np.concatenate([self.contributions, effects, [self.intercept]]),
        }
        if features:
            columns["feature"] = [*("" for _ in range(n)), *features, ""]
        for name in ("plus", "minus", "backbone_scale", "tilt_intercept"):
            columns[name] = np.append(getattr(self, name), nothing)
        if self.bands is not None and self.effect_bands is not None:
            for end, name in enumerate(("contribution_lower", "contribution_upper")):
                ends = self.effect_bands[end, : len(features)]
                columns[name] = np.concatenate([self.bands[end], ends, [np.nan]])
        return columns

    def feature_frame(self) -> Any:
        """One row per stage and feature, as a data frame."""
        n_stages, p = self.backbone.shape
        columns = {
            "stage": np.repeat(np.arange(n_stages), p),
            "stage_name": np.repeat(np.array(self.stage_names, dtype=object), p),
            "feature": list(self.names) * n_stages,
            "value": list(self.values) * n_stages,
            "backbone": self.backbone.ravel(),
            "backbone_share": self.backbone_share.ravel(),
            "tilt": self.tilt.ravel(),
        }
        return make_frame(columns, self.library)


def local(model: Any, X: Any, row: int = 0, *, level: float = 0.9) -> LocalExplanation:
    """Explain the prediction of one row.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    X : table
        With the columns of the model.
    row : int
        Which of its rows, counted from zero.
    level : float
        Share of the bootstrap replicates inside bands, for a model with ``n_bootstrap``.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> local = explain.local(model, X, row=7)
    >>> total = local.intercept + local.effects.sum() + local.contributions.sum()
    >>> bool(abs(total - model.predict(X)[7]) < 1e-9)
    True
    """
    subject = Subject.of(model)
    level = check_level(level)
    table = open_table(X)
    columns = subject.schema.columns_in(table, subject.owner)
    row = check_position("row", row, table.n_rows, " (a position, not a label of an index)")
    table = table.rows(np.arange(table.n_rows) == row)
    fitted = subject.model
    codes = fitted.bins.codes(table, columns)
    backbone, tilt = _at(fitted, codes)
    plus, minus = rest_of_products(fitted, codes, ())[:, :, 0].T
    prediction = fitted.predict(codes)
    return LocalExplanation(
        names=subject.names,
        values=row_texts(fitted.bins.axes, table, columns)[0],
        stage_names=subject.stage_names,
        prediction=float(prediction[0]),
        intercept=fitted.intercept,
        effects=fitted.effect_values(codes)[0],
        contributions=fitted.contributions(codes)[0],
        plus=plus,
        minus=minus,
        backbone=backbone,
        tilt=tilt,
        backbone_scale=np.array([stage.backbone_scale for stage in fitted.stages]),
        tilt_intercept=np.array([stage.tilt_intercept for stage in fitted.stages]),
        bands=band_of([other.contributions(codes)[0] for other in fitted.replicates], level),
        effect_bands=band_of([other.effect_values(codes)[0] for other in fitted.replicates], level),
        interval=band_of([other.predict(codes)[0] for other in fitted.replicates], level),
        remarks=_remarks(subject, table, columns, codes[0]),
        library=subject.schema.library or table.library,
        quantity=subject.quantity,
        response=subject.response,
        response_value=float(fitted.link.inverse(prediction)[0]),
    )


def _remarks(
    subject: Subject, table: Table, columns: list[int], codes: CodeArray
) -> dict[str, str]:
    bins = subject.model.bins
    found = {}
    for j, (axis, column) in enumerate(zip(bins.axes, columns, strict=True)):
        value = axis.read(table, column)[0]
        code = int(codes[j])
        is_neutral = _is_neutral(subject.model, int(bins.axis(j).start) + code)
        frequencies = bins.frequencies[bins.axis(j)]
        found[subject.names[j]] = remark(axis, frequencies, code, value, is_neutral)
    return {name: text for name, text in found.items() if text}


def _is_neutral(model: SeparationModel, place: int) -> bool:
    """Whether a bin has no effect and no factors, as all have that no training row fell into."""
    factors = [branch.log_factors[place] for stage in model.stages for branch in stage.active]
    effect = 0.0 if model.effects is None else model.effects[place]
    return not effect and not any(factors)


def _at(model: SeparationModel, codes: CodeArray) -> tuple[FloatArray, FloatArray]:
    """b_j and d_j of every stage at a row, each (n_stages, p); NaN where a stage has none."""
    at = model.bins.flat(codes)[0]
    curves = np.full((2, len(model.stages), len(at)), np.nan)
    for s, stage in enumerate(model.stages):
        for part, curve in enumerate((stage.log_backbone, stage.tilt)):
            if curve is not None:
                curves[part, s] = curve[at]
    return np.exp(curves[0]), curves[1]
