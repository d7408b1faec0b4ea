"""What a fit reports of each stage, and what was changed after it; both travel with the model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_MOST_LISTED = 6


@dataclass(frozen=True)
class StageRecord:
    """What happened while one stage was added; of more than two classes, one to any of them.

    Attributes
    ----------
    loss : float
        Weighted mean, over the training rows, of what ``loss`` names, after everything was
        refitted. The last record of a classifier is of the model with the factor on its log-odds.
    n_kept, n_grids : int
        Bagged grids averaged, of those fitted.
    mean_actions : float
        Splits and resplits per grid.
    scalars : tuple of (lambda_plus, lambda_minus)
        The scalars of all stages so far, as refitted after this one; of more than two classes
        those of the first class, then those of the second, and so on.
    intercept : float
        The constant, as refitted after this stage; of more than two classes the mean of theirs,
        which is zero.
    seconds : float
        Time the stage took.
    cancellation : float or None
        How much branches and main effects work against each other: the mean over the training
        rows of the sum of their sizes, divided by the mean size of what they come to. 1 is not at
        all.
    freedom : float or None
        Effective degrees of freedom of all curves; None where smoothness is not learned.
    validation_loss : float or None
        The same mean, of a model with as many stages, over rows that were held out; without that
        factor.
    n_sweeps : float or None
        Sweeps of alternating least squares, a whole number; None for
        :class:`seplearn.TSLRegressor`.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> record = model.history_[0]
    >>> record.n_kept, record.n_grids, record.cancellation >= 1
    (2, 3, True)
    """

    loss: float
    n_kept: int
    n_grids: int
    mean_actions: float
    scalars: tuple[tuple[float, float], ...]
    intercept: float
    seconds: float
    cancellation: float | None = None
    freedom: float | None = None
    validation_loss: float | None = None
    n_sweeps: float | None = None

    def scaled(self, factor: float, origin: float = 0.0, degree: int = 2) -> StageRecord:
        """The record of the same fit to a target times ``factor`` plus ``origin``.

        Losses are in the target's unit to the power of ``degree``.
        """
        held_out = self.validation_loss
        return replace(
            self,
            loss=_times(self.loss, factor, degree),
            validation_loss=None if held_out is None else _times(held_out, factor, degree),
            scalars=tuple((plus * factor, minus * factor) for plus, minus in self.scalars),
            intercept=self.intercept * factor + origin,
        )


@dataclass(frozen=True)
class SizePath:
    """How well models of growing size predicted rows that were held out.

    Attributes
    ----------
    main_effects : bool
        Whether the models start with main effects.
    losses : tuple of float
        Mean loss on the held-out rows after 0, 1, 2, ... stages were grown.
    errors : tuple of float
        Standard error of the difference from the loss of the best size, row by row. That is the
        smallest, unless a few rows outweigh all others in the mean.
    chosen : int or None
        The size that was taken; None if it was that of another path.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=2, main_effects=False, random_state=0).fit(X, y)
    >>> (path,) = model.size_paths_
    >>> path.losses[path.chosen] < path.losses[0]
    True
    """

    main_effects: bool
    losses: tuple[float, ...]
    errors: tuple[float, ...]
    chosen: int | None

    def scaled(self, factor: float, degree: int = 2) -> SizePath:
        """The path of the same fit to a target times ``factor``."""
        return replace(
            self,
            losses=tuple(_times(loss, factor, degree) for loss in self.losses),
            errors=tuple(_times(error, factor, degree) for error in self.errors),
        )


@dataclass(frozen=True)
class EditRecord:
    """One change that was made to a model after it was fitted.

    Attributes
    ----------
    operation : str
        The method of :class:`seplearn.Edit` that made it, or "merge" or "select_stages".
    arguments : mapping of str to plain values
        What the method was given, by the names of its parameters; of ``recalibrate`` what it found.
    reason : str
        Why it was made.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> edited = model.edit().flatten("x1", stage=0).apply(reason="x1 is not known in time")
    >>> print(edited.edits_[0])
    flatten(feature='x1', stage=0): x1 is not known in time
    """

    operation: str
    arguments: Mapping[str, Any] = field(hash=False)
    reason: str

    @property
    def what(self) -> str:
        """The change as a call; long lists of numbers are cut."""
        shown = (f"{name}={_brief(value)}" for name, value in self.arguments.items())
        return f"{self.operation}({', '.join(shown)})"

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"

    def to_plain(self) -> dict[str, Any]:
        """The record as JSON."""
        return {
            "operation": self.operation,
            "arguments": copy.deepcopy(dict(self.arguments)),
            "reason": self.reason,
        }


def _brief(value: Any) -> str:
    """A value as an argument; of lists of lists only that there are some."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if not isinstance(value, list):
        return repr(value)
    return "[...]" if any(isinstance(item, list) for item in value) else f"[{_listed(value)}]"


def _listed(values: list[Any]) -> str:
    more = ["..."] if len(values) > _MOST_LISTED else []
    return ", ".join([*(_brief(value) for value in values[:_MOST_LISTED]), *more])


def _times(value: float, factor: float, degree: int) -> float:
    """One after the other: the square of a huge factor overflows, and 0 times that is NaN."""
    for _ in range(degree):
        value *= factor
    return value
