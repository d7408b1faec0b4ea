"""What would change a prediction: the smallest changes of one or two features that reach a goal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import out_of_range, wrong_type
from seplearn._numerals import number_text
from seplearn._rules import Interval, is_real, is_whole
from seplearn.explain.axes import exact_text, value_text
from seplearn.explain.ice import sums_along, sums_over_pair
from seplearn.explain.result import Explanation
from seplearn.explain.sizes import middle_ranks
from seplearn.explain.subject import Subject, check_position
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.losses.links import Link, class_shares
from seplearn.model.classes import ClassModels
from seplearn.model.model import SeparationModel
from seplearn.model.reading import brief, read_curves
from seplearn.table.binning import Bins
from seplearn.table.columns import open_table
from seplearn.table.description import AxisDescription

_MOST_PAIRED = 40  # features looked at in pairs
_WORTH_A_SECOND = 0.9  # of the change of one feature alone: at most so much must two take
_NEARER = 1.01  # times as far as one feature must two lead, where neither reaches the goal
_ROUNDING = 1e-9  # of the way: changes that differ by less come equally near
_BLOCK_CELLS = 2_000_000  # combinations of two values looked at together
_DIGITS = range(3, 18)


@dataclass(frozen=True)
class Change:
    """Other values for one or two features of a row, and what is then predicted.

    Attributes
    ----------
    features : tuple of int
    names : tuple of str
        Of the features.
    before, after : tuple
        The values of the row, and those that reach the goal: numbers, or levels as texts.
    sizes : tuple of float
        How far each feature is moved, as a share of the training rows that it passes.
    prediction : float
        With the changed values.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> change = explain.counterfactual(model, X, row=0, target=1200).changes[0]
    >>> edited = X[:1].assign(**dict(zip(change.names, change.after)))
    >>> bool(abs(model.predict(edited)[0] - change.prediction) < 1e-9)
    True
    """

    features: tuple[int, ...]
    names: tuple[str, ...]
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    sizes: tuple[float, ...]
    prediction: float

    @property
    def size(self) -> float:
        """How far all of them are moved together."""
        return sum(self.sizes)

    @property
    def texts(self) -> tuple[str, ...]:
        """The change of every feature in words."""
        parts = zip(self.names, self.before, self.after, strict=True)
        return tuple(f"{name} from {value_text(a)} to {exact_text(b)}" for name, a, b in parts)


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Explanation):
    """The smallest changes of one or two features after which a prediction is as wanted.

    Attributes
    ----------
    names, values : tuple of str
        The features and the row's values.
    response : str
        What is predicted: "prediction", or "probability of" a class, the one that is wanted if a
        class is.
    prediction : float
        That of the row as it is.
    wanted : str
        The goal in words.
    is_reached : bool
        Whether the row is there already; there are no changes then.
    fixed : tuple of str
        Features that were not to be changed.
    directions : dict
        1 for features that were only to rise, -1 for those only to fall, by name.
    changes : tuple of Change
        The smallest first; empty where no change of one or two features within the data suffices.
    nearest : tuple of Change
        Where none suffices: the change of one feature that comes nearest to the goal, and that of
        two features if it comes nearer. Empty where all changes lead away from it.
    is_of_a_class : bool
        Whether a class is wanted, not a number.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> result = explain.counterfactual(model, X, row=0, target=1200, fixed=["district"])
    >>> result.wanted, {name for change in result.changes for name in change.names} <= set(X)
    ('prediction of at most 1200', True)
    >>> list(result.frame().columns)[:3]
    ['first', 'first_from', 'first_to']
    """

    _figure: ClassVar[str] = "plot_counterfactual"

    names: tuple[str, ...]
    values: tuple[str, ...]
    response: str
    prediction: float
    wanted: str
    is_reached: bool
    fixed: tuple[str, ...]
    directions: dict[str, int]
    changes: tuple[Change, ...]
    nearest: tuple[Change, ...]
    is_of_a_class: bool

    def __str__(self) -> str:
        """The changes in words, a line each, the smallest first."""
        now = f"now {number_text(self.prediction, 4)}"
        if self.is_of_a_class:
            now = f"{self.response}: {now}"
        lines = [
            f"{' and '.join(change.texts)}: {number_text(change.prediction, 4)}"
            for change in self.changes or self.nearest
        ]
        first = f"For {self.goal} ({now}) one of these would do:"
        if not self.changes:
            first = self.why_none + (f" Nearest to it ({now}) come:" if self.nearest else "")
        return "\n".join([first, *lines])

    @property
    def goal(self) -> str:
        """The goal with its article."""
        return f"{'the' if self.is_of_a_class else 'a'} {self.wanted}"

    @property
    def why_none(self) -> str:
        """Why there are no changes; empty where there are some."""
        if self.is_reached:
            return f"It is {self.goal} already: nothing has to change."
        if self.changes:
            return ""
        within = "what training rows had" + (" and may change" if self.directions else "")
        return f"No change of one or two features, within {within}, makes it {self.goal}."

    def _columns(self) -> dict[str, Any]:
        """One row per change, the smallest first; of a change of one feature no second."""

        def texts(place: int, part: str) -> list[str]:
            found = (getattr(change, part)[place:][:1] for change in self.changes)
            return [exact_text(one[0]) if one else "" for one in found]

        columns: dict[str, Any] = {}
        for place, order in enumerate(("first", "second")):
            columns[order] = texts(place, "names")
            columns[f"{order}_from"] = texts(place, "before")
            columns[f"{order}_to"] = texts(place, "after")
        columns["size"] = np.array([change.size for change in self.changes])
        columns["prediction"] = np.array([change.prediction for change in self.changes])
        return columns


def counterfactual(
    model: Any,
    X: Any,
    row: int = 0,
    *,
    target: Any,
    of_class: Any = None,
    fixed: Any = (),
    directions: Mapping[Any, int] | None = None,
    max_changes: int = 20,
) -> Counterfactual:
    """What would have to be different in a row for the prediction to be another.

    All changes of one feature, and of two features, to bins that training rows had are looked
    at, none is sampled. Of every feature, and of every pair, the smallest change that reaches the
    target is listed; a pair only where it is a change smaller by a tenth, or more, than either of
    its features alone.

    A change is as large as the share of the training rows between the two values. Levels have no
    order: between two of them it is the mean over all orders.

    Whether such a change can be made, and whether the outcome would follow, the model cannot know.

    Parameters
    ----------
    model : TSLRegressor, TSLClassifier, ClassView or SeparationModel
        A fitted estimator, or its ``model_``.
    X : table
        With the columns of the model.
    row : int
        Which of its rows, counted from zero.
    target : float or a class
        The prediction to reach: at least this where the row's is below, at most this where it is
        above. For a classifier of two classes the probability of the second, above 0 and below 1,
        or one of its classes, which is then to be the likelier; for more classes one of them, which
        is to be the likeliest, or the probability of ``of_class``. Offsets are left out.
    of_class : a class, optional
        Of a classifier of more than two classes: the one whose probability ``target`` is.
    fixed : str, int or several, optional
        Features that stay as they are.
    directions : dict, optional
        Features of numbers that may only rise (1) or only fall (-1), as in
        ``{"age": 1, "debt": -1}``. A missing value has no place in the order, and stays.
    max_changes : int
        The smallest are given, this many at most. Pairs are looked at among the 40 features that
        can move this prediction most.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0).fit(X, y > 0)
    >>> first = model.predict(X[:1])[0]
    >>> result = explain.counterfactual(model, X, row=0, target=not first)
    >>> edited = X[:1].assign(**dict(zip(result.changes[0].names, result.changes[0].after)))
    >>> bool(model.predict(edited)[0] == (not first))
    True
    """
    subject, models = _sums_of(model)
    Interval(1, whole=True).check("max_changes", max_changes)
    is_several = not isinstance(fixed, str) and np.ndim(fixed) and hasattr(fixed, "__len__")
    is_none = fixed is None or (is_several and len(fixed) == 0)
    kept = () if is_none else subject.features(fixed, "fixed")
    ways = _checked_directions(subject, directions, kept)
    table = open_table(X)
    columns = subject.schema.columns_in(table, subject.owner)
    row = check_position("row", row, table.n_rows, " (a position, not a label of an index)")
    table = table.rows(np.arange(table.n_rows) == row)
    axes = subject.model.bins.axes
    codes = subject.model.bins.codes(table, columns)
    read = [axis.read(table, column)[0] for axis, column in zip(axes, columns, strict=True)]
    values = [value.item() if isinstance(value, np.generic) else value for value in read]
    now = np.array([one.predict(codes)[0] for one in models])
    goal = _goal(model, subject, target, of_class, now)
    search = _Search(subject, models, goal, codes, values, kept, ways)
    is_reached = bool(goal.reached(now[:, None])[0])
    changes = [] if is_reached else sorted(search.changes(), key=lambda change: change.size)
    nearest = () if is_reached or changes else tuple(search.nearest(now))
    return Counterfactual(
        names=subject.names,
        values=tuple(value_text(value) for value in values),
        response=goal.response,
        prediction=float(goal.prediction(now[:, None])[0]),
        wanted=goal.wanted,
        is_reached=is_reached,
        fixed=tuple(subject.names[j] for j in kept),
        directions={subject.names[j]: way for j, way in ways.items()},
        changes=tuple(changes[: int(max_changes)]),
        nearest=nearest,
        is_of_a_class=goal.is_of_a_class,
        library=subject.schema.library or table.library,
        quantity=subject.quantity,
    )


class _Goal(NamedTuple):
    """What is wanted of sums, which are of shape (number of sums, ...)."""

    response: str
    wanted: str
    reached: Callable[[FloatArray], BoolArray]
    prediction: Callable[[FloatArray], FloatArray]
    is_up: bool = True
    is_of_a_class: bool = False

    def nearness(self, sums: FloatArray) -> FloatArray:
        """The nearer to the goal, the larger."""
        return self.prediction(sums) if self.is_up else -self.prediction(sums)


def _sums_of(model: Any) -> tuple[Subject, tuple[SeparationModel, ...]]:
    """The sums that a prediction is made of: one, or one per class of several."""
    fitted = getattr(model, "model_", None)
    if not isinstance(fitted, ClassModels):
        subject = Subject.of(model)
        return subject, (subject.model,)
    check_is_fitted(model)
    subject = Subject(fitted.models[0], model._schema, type(model).__name__)
    return subject, fitted.models


def _goal(model: Any, subject: Subject, target: Any, of_class: Any, now: FloatArray) -> _Goal:
    classes = getattr(model, "classes_", None)
    labels = [] if classes is None else classes.tolist()
    if not np.isscalar(target):
        raise wrong_type("target", "a number or a class", target)
    if len(now) > 1:
        return _goal_of_several(labels, target, of_class, now)
    if of_class is not None:
        raise out_of_range("of_class", "None for a model that is not of several classes", of_class)

    def prediction(sums: FloatArray) -> FloatArray:
        return subject.model.link.inverse(sums[0])

    if target in labels:
        place = labels.index(target)
        return _goal_of_two(labels[place], place == 1, subject.model.link)
    number = _checked(target, subject.model.link.name, labels)
    return _at_least_or_most(number, subject.response, prediction, now)


def _goal_of_two(label: Any, is_second: bool, link: Link) -> _Goal:
    """That a class is the likelier of two; the sum is the log-odds of the second."""
    sign = 1.0 if is_second else -1.0
    reached = np.greater if is_second else np.less_equal
    name = brief(str(label))
    return _Goal(
        f"probability of {name}", f"class {name}", lambda sums: reached(sums[0], 0.0),
        lambda sums: link.inverse(sign * sums[0]), is_of_a_class=True,
    )  # fmt: skip


def _goal_of_several(labels: list[Any], target: Any, of_class: Any, now: FloatArray) -> _Goal:
    """That a class is the likeliest, or that it has a probability."""
    argument, label = ("target", target) if of_class is None else ("of_class", of_class)
    if not np.isscalar(label) or label not in labels:
        hint = " (a probability needs of_class)" if of_class is None and is_real(label) else ""
        raise out_of_range(argument, f"one of the classes {labels}{hint}", label)
    k = labels.index(label)
    name = brief(str(label))

    def probability(sums: FloatArray) -> FloatArray:
        flat = sums.reshape(len(sums), -1).T
        return class_shares(flat)[:, k].reshape(sums.shape[1:])

    response = f"probability of {name}"
    if of_class is not None:
        return _at_least_or_most(_checked(target, "logit", []), response, probability, now)
    return _Goal(
        response, f"class {name}", lambda sums: sums.argmax(axis=0) == k, probability,
        is_of_a_class=True,
    )  # fmt: skip


def _at_least_or_most(
    number: float, response: str, prediction: Callable[[FloatArray], FloatArray], now: FloatArray
) -> _Goal:
    """A prediction on the other side of a number than the row's, or just there."""
    is_below = bool(prediction(now[:, None])[0] < number)
    wanted = f"{response} of at {'least' if is_below else 'most'} {number_text(number, 6)}"
    enough = np.greater_equal if is_below else np.less_equal

    def reached(sums: FloatArray) -> BoolArray:
        return enough(prediction(sums), number)

    return _Goal(response, wanted, reached, prediction, is_below)


def _checked(target: Any, link: str, labels: list[Any]) -> float:
    """A prediction that the link allows."""
    low, high, rule = {
        "logit": (0.0, 1.0, "a probability above 0 and below 1"),
        "log": (0.0, math.inf, "a positive number"),
    }.get(link, (-math.inf, math.inf, "a finite number"))
    if not is_real(target) or not low < target < high:
        rule += f" or one of the classes {labels}" if labels else ""
        raise out_of_range("target", rule, target)
    return float(target)


def _checked_directions(subject: Subject, given: Any, fixed: tuple[int, ...]) -> dict[int, int]:
    """1 or -1 for the features of numbers that may only rise or only fall."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise wrong_type("directions", "a dict from features to 1 or -1", given)
    ways: dict[int, int] = {}
    for feature, way in given.items():
        j = subject.feature(feature, "a feature in directions")
        name = subject.names[j]
        if not is_whole(way) or way not in (-1, 1):
            raise out_of_range(f"directions[{name!r}]", "1 (may rise) or -1 (may fall)", way)
        if subject.model.bins.is_categorical[j]:
            rule = f"for features of numbers, which have an order ({name!r} holds levels)"
            raise out_of_range("directions", rule, given)
        if j in fixed:
            raise out_of_range("directions", f"for features that are not fixed, as {name!r}", given)
        if ways.setdefault(j, int(way)) != way:
            raise out_of_range("directions", f"one direction for {name!r}", given)
    return ways


# Sums of changes, their costs, the features that are changed, and their bins: an axis for each.
_Block: TypeAlias = tuple[FloatArray, FloatArray, tuple[int, ...], tuple[IntArray, ...]]


class _Search:
    """All changes of one row within the data."""

    def __init__(
        self,
        subject: Subject,
        models: tuple[SeparationModel, ...],
        goal: _Goal,
        codes: CodeArray,
        values: list[Any],
        fixed: tuple[int, ...],
        directions: dict[int, int],
    ) -> None:
        self._subject, self._models, self.goal = subject, models, goal
        self._codes, self._values = codes, values
        bins = subject.model.bins
        curves = (read_curves(one.stages, one.effects, one.bins) for one in models)
        used = {curve.feature for of_model in curves for curve in of_model} - set(fixed)
        ranks, own = middle_ranks(bins), codes[0].astype(np.int64).tolist()
        self._others = {j: _other_bins(bins, j, own[j], directions.get(j)) for j in sorted(used)}
        self._others = {j: bins for j, bins in self._others.items() if len(bins)}
        self._costs = {j: _costs(bins, ranks, j, own[j])[b] for j, b in self._others.items()}
        self._along = {
            j: np.array([sums_along(one, codes, j)[0] for one in models])[:, others]
            for j, others in self._others.items()
        }

    def changes(self) -> Iterator[Change]:
        """The smallest change of every feature, and of every pair that needs less."""
        alone: dict[int, float] = {}
        for j, bins in self._others.items():
            best = _smallest(self.goal.reached(self._along[j]), self._costs[j])
            alone[j] = math.inf if best is None else float(self._costs[j][best])
            if best is not None:
                yield self._change((j,), (int(bins[best]),))
        for j, k in self._pairs():
            found = self._pair(j, k, _WORTH_A_SECOND * min(alone[j], alone[k]))
            if found is not None:
                yield self._change((j, k), found)

    def nearest(self, now: FloatArray) -> Iterator[Change]:
        """Of one feature, then of two, the change that comes nearest, if nearer than before it."""
        start = float(self.goal.nearness(now[:, None])[0])
        best = 0.0
        alone = ((self._along[j], self._costs[j], (j,), (b,)) for j, b in self._others.items())
        for blocks in (alone, self._all_pairs()):
            found = None
            for sums, costs, features, bins in blocks:
                way = self.goal.nearness(sums) - start
                if way.max() > best:
                    best = float(way.max())
                    flat = _smallest(way >= best - _ROUNDING * best, costs) or 0
                    place = np.unravel_index(flat, costs.shape)
                    at = (int(own[k]) for own, k in zip(bins, place, strict=True))
                    found = features, tuple(at)
            if found is not None:
                yield self._change(*found)
            best *= _NEARER

    def _pairs(self) -> Iterator[tuple[int, int]]:
        reach = {j: float(np.ptp(along, axis=1).max()) for j, along in self._along.items()}
        paired = sorted(reach, key=lambda j: -reach[j])[:_MOST_PAIRED]
        return combinations(sorted(paired), 2)

    def _all_pairs(self) -> Iterator[_Block]:
        for j, k in self._pairs():
            second = self._others[k]
            for part, costs in self._parts(j, k):
                first = self._others[j][part]
                yield self._sums(j, k, part), costs, (j, k), (first, second)

    def _parts(self, j: int, k: int) -> Iterator[tuple[slice, FloatArray]]:
        """Bins of the first of two features looked at together, with the costs of all pairs."""
        step = max(1, _BLOCK_CELLS // (len(self._others[k]) * len(self._models)))
        for start in range(0, len(self._others[j]), step):
            part = slice(start, start + step)
            yield part, np.add.outer(self._costs[j][part], self._costs[k])

    def _sums(self, j: int, k: int, part: slice) -> FloatArray:
        bins = self._others[j][part], self._others[k]
        return np.array([sums_over_pair(one, self._codes, (j, k), bins) for one in self._models])

    def _pair(self, j: int, k: int, below: float) -> tuple[int, int] | None:
        """The bins of the smallest change of two features, if it is smaller than ``below``."""
        first, second = self._others[j], self._others[k]
        found: tuple[int, int] | None = None
        for part, costs in self._parts(j, k):
            if costs.min() >= below:
                continue
            best = _smallest(self.goal.reached(self._sums(j, k, part)) & (costs < below), costs)
            if best is not None:
                a, b = np.unravel_index(best, costs.shape)
                below = float(costs[a, b])
                found = int(first[part][a]), int(second[b])
        return found

    def _change(self, features: tuple[int, ...], bins: tuple[int, ...]) -> Change:
        codes = self._codes.copy()
        codes[0, list(features)] = bins
        sums = np.array([model.predict(codes) for model in self._models])
        axes = [self._subject.model.bins.axes[j].describe() for j in features]
        before = tuple(self._values[j] for j in features)
        sizes = tuple(
            float(self._costs[j][np.flatnonzero(self._others[j] == b)[0]])
            for j, b in zip(features, bins, strict=True)
        )
        return Change(
            features=features,
            names=tuple(self._subject.names[j] for j in features),
            before=before,
            after=tuple(map(_value_in, axes, bins, before)),
            sizes=sizes,
            prediction=float(self.goal.prediction(sums)[0]),
        )


def _other_bins(bins: Bins, j: int, own: int, way: int | None) -> IntArray:
    """The bins of known values that training rows had, without the row's own.

    With a direction only those above the row's, or below it; none where that has no place in the
    order.
    """
    frequencies = bins.frequencies[bins.axis(j)]
    meanings = bins.axes[j].describe().meanings
    found = np.array(
        [
            b
            for b, meaning in enumerate(meanings)
            if meaning in ("range", "level") and frequencies[b] > 0.0 and b != own
        ],
        dtype=np.int64,
    )
    if way is not None:
        found = found[(way * (found - own) > 0) & (own < bins.n_ordered[j])]
    return found


def _costs(bins: Bins, ranks: FloatArray, j: int, own: int) -> FloatArray:
    """How far every bin is from the row's, as a share of the training rows between them.

    Values without an order are as far as they are on average over all orders: every other level
    lies between two in a third of them.
    """
    frequencies = bins.frequencies[bins.axis(j)]
    both = frequencies + frequencies[own]
    costs: FloatArray = 0.5 * both + np.maximum(1.0 - both, 0.0) / 3.0
    here = ranks[bins.axis(j)]
    if np.isnan(here[own]):
        return costs
    return np.where(np.isnan(here), costs, np.abs(here - here[own]))


def _smallest(reached: BoolArray, costs: FloatArray) -> int | None:
    """The flat place of the smallest cost among those reached."""
    return int(np.argmin(np.where(reached, costs, math.inf))) if reached.any() else None


def _value_in(axis: AxisDescription, b: int, before: Any) -> Any:
    """A value in bin ``b``: of a range, with few digits, about as near to the old one as can be.

    Whole numbers stay whole where the bin has any.
    """
    if axis.kind == "categorical":
        return axis.levels[b]
    middle = float(axis.values[b])
    if axis.has_few_values or axis.range is None:
        return middle
    low, high = max(axis.lower[b], axis.range[0]), min(axis.upper[b], axis.range[1])
    near, away = (low, 1.0) if before < low else (high, -1.0) if before >= high else (middle, 1.0)
    if not math.isfinite(near):
        return middle
    found = list(_short_numbers(near, away))
    if all(float(value).is_integer() for value in (before, *axis.range)):
        nearest = float(min(max(before, math.ceil(low)), math.floor(high)))
        found = [value for value in (*found, nearest) if value.is_integer()] + found
    for value in found:
        if low <= value <= high and axis.lower[b] <= value < axis.upper[b]:
            return value
    return middle


def _short_numbers(near: float, away: float) -> Iterator[float]:
    """Numbers beside one, on the side that is away from another, those with few digits first."""
    for digits in _DIGITS:
        step = 10.0 ** (math.floor(math.log10(abs(near))) - digits + 1) if near else 1.0
        rounded = away * math.ceil(away * near / step) * step
        for value in (rounded, rounded + away * step):
            yield float(f"{value:.{digits}g}")
