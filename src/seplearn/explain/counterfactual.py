"""What would change a prediction: the smallest changes of one or two features that reach a goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import out_of_range, wrong_type
from seplearn._numerals import number_text
from seplearn._rules import Interval, is_whole
from seplearn.explain.axes import exact_text, value_text
from seplearn.explain.goals import goal_of
from seplearn.explain.nearest import Change, Search
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject, check_position
from seplearn.model.classes import ClassModels
from seplearn.model.model import SeparationModel
from seplearn.table.columns import open_table


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
        within = "known values that training rows had" + (" and may change" * bool(self.directions))
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
    label: Any = None,
    fixed: Any = (),
    directions: Mapping[Any, int] | None = None,
    max_changes: int = 20,
) -> Counterfactual:
    """What would have to be different in a row for the prediction to be another.

    All changes of one feature, and of two features, to bins that training rows had are looked
    at, none is sampled. Of every feature, and of every pair, the smallest change that reaches the
    target is listed; a pair only where it is a change smaller by a tenth, or more, than either of
    its features alone.

    Rare levels, which share a bin, and missing values are no changes.

    A change is as large as the share of the training rows with a value of this feature that lie
    between the two, from the middle of one bin to the middle of the other. Levels have no
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
        is to be the likeliest, or the probability of ``label``. Offsets are left out.
    label : a class, optional
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
    goal = goal_of(model, subject, target, label, now)
    search = Search(subject, models, goal, codes, values, kept, ways)
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


def _sums_of(model: Any) -> tuple[Subject, tuple[SeparationModel, ...]]:
    """The sums that a prediction is made of: one, or one per class of several."""
    fitted = getattr(model, "model_", None)
    if not isinstance(fitted, ClassModels):
        subject = Subject.of(model)
        return subject, (subject.model,)
    check_is_fitted(model)
    subject = Subject(fitted.models[0], model._schema, type(model).__name__)
    return subject, fitted.models


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
