"""What stages contribute, over all rows or in a region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn._errors import out_of_range, wrong_type
from seplearn.explain.result import Explanation
from seplearn.explain.sizes import mean_square_shares
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.model.reference import Reference
from seplearn.table.columns import Table, level_name, open_table
from seplearn.table.description import AxisDescription


@dataclass(frozen=True, eq=False, repr=False)
class StageContributions(Explanation):
    """What every stage adds to the predictions of some rows.

    Attributes
    ----------
    stage_names : tuple of str
        The features that every stage depends on.
    mean, mean_size : array of shape (n_stages,)
        Mean contribution, and mean of its absolute value, in the unit of y.
    share : array of shape (n_stages,)
        The size of every stage as it is told everywhere: the mean square of its contribution, as a
        share of the sum over stages and main effects together.
    effects_mean, effects_mean_size : float
        The same of what main effects add together; zero for a model without main effects.
    weight : float
        Share of the rows that lie in the region.
    n_rows : int
        How many rows that are.
    region : str
        The region in words; empty for all rows.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> contributions = explain.stages(model, {"x1": (0.0, None)})
    >>> 0.4 < contributions.weight < 0.6
    True
    >>> contributions.region
    'x1: (0.0, None)'
    """

    _figure: ClassVar[str] = "plot_stages"

    stage_names: tuple[str, ...]
    mean: FloatArray
    mean_size: FloatArray
    share: FloatArray
    weight: float
    n_rows: int
    region: str = ""
    effects_mean: float = 0.0
    effects_mean_size: float = 0.0

    def _columns(self) -> dict[str, Any]:
        return {
            "stage": np.arange(len(self.mean)),
            "stage_name": list(self.stage_names),
            "mean": self.mean,
            "mean_size": self.mean_size,
            "share": self.share,
        }


def stages(
    model: Any, region: Mapping[Any, Any] | None = None, *, background: Any = None
) -> StageContributions:
    """How much every stage contributes, over all rows or in a region.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    region : mapping of feature to (low, high) or to levels, optional
        For a numeric feature a pair, either end of which may be None; for a categorical one a
        level or several. The reference rows are in it as far as bins can tell: the bins of ``low``
        and of ``high`` belong to it; rows of a ``background`` are compared by their values.
    background : table, optional
        Rows to average over. By default the reference rows kept in the model.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> low = explain.stages(model, {1: (None, -2.0)})
    >>> 0 < low.n_rows < 1000, round(float(low.share.sum()), 9)
    (True, 1.0)
    """
    subject = Subject.of(model)
    rows = subject.rows(background)
    table = None if background is None else open_table(background)
    inside = _inside(subject, {} if region is None else region, rows, table)
    weight = rows.weight[inside]
    if weight.sum() == 0:
        raise ValueError(
            f"region must hold at least one row of the background, got {dict(region or {})!r}, "
            f"which holds none of {len(rows.weight)}; give a wider region or a larger background"
        )
    effects = subject.model.effect_values(rows.codes[inside]).sum(axis=1)
    parts = np.column_stack([effects, subject.model.contributions(rows.codes[inside])])
    mean = np.average(parts, axis=0, weights=weight)
    mean_size = np.average(np.abs(parts), axis=0, weights=weight)
    return StageContributions(
        stage_names=subject.stage_names,
        mean=mean[1:],
        mean_size=mean_size[1:],
        share=mean_square_shares(parts, weight)[1:],
        effects_mean=float(mean[0]),
        effects_mean_size=float(mean_size[0]),
        weight=float(weight.sum()),
        n_rows=len(weight),
        region=", ".join(f"{key}: {value}" for key, value in (region or {}).items()),
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _inside(
    subject: Subject, region: Mapping[Any, Any], rows: Reference, table: Table | None
) -> BoolArray:
    """Which rows lie in the region; ``table`` has their values, if there are any."""
    if not isinstance(region, Mapping):
        raise wrong_type("region", "a mapping of feature to (low, high) or to levels", region)
    columns = None if table is None else subject.schema.places_in(table, subject.owner)
    inside = np.ones(len(rows.codes), dtype=np.bool_)
    for feature, wanted in region.items():
        j = subject.feature(feature)
        axis, codes = subject.model.bins.axes[j], rows.codes[:, j]
        description = axis.describe()
        if description.kind == "categorical":
            inside &= np.isin(codes, _level_bins(description, subject.names[j], wanted))
            continue
        low, high = _interval(subject.names[j], wanted)
        if table is not None and columns is not None:
            values = np.asarray(axis.read(table, columns[j]))
            inside &= (low <= values) & (values <= high)
        else:
            inside &= np.isin(codes, _bins_between(description, low, high))
    return inside


def _level_bins(description: AxisDescription, name: str, wanted: Any) -> list[int]:
    levels = [wanted] if isinstance(wanted, str) or not hasattr(wanted, "__iter__") else wanted
    known = {level: b for b, level in enumerate(description.levels)}
    known |= dict.fromkeys(description.rare, description.meanings.index("rare"))
    found = []
    for level in levels:
        try:
            found.append(known[level_name(level)])
        except (KeyError, TypeError) as error:
            rule = f"levels of {name!r} among {list(description.levels)}"
            raise out_of_range("region", rule, level) from error
    return found


def _interval(name: str, wanted: Any) -> tuple[float, float]:
    rule = f"a pair (low, high) for {name!r}"
    if isinstance(wanted, str):
        raise wrong_type("region", rule, wanted)
    try:
        low, high = wanted
        ends = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
    except (TypeError, ValueError) as error:
        raise wrong_type("region", rule, wanted) from error
    if not ends[0] <= ends[1]:
        raise out_of_range("region", f"a pair with low <= high for {name!r}", wanted)
    return ends


def _bins_between(description: AxisDescription, low: float, high: float) -> IntArray:
    """The bins that overlap an interval; the outermost end where figures end them."""
    if description.has_few_values:
        return np.flatnonzero((low <= description.values) & (description.values <= high))
    return np.flatnonzero((description.bounds[:-1] <= high) & (low < description.bounds[1:]))
