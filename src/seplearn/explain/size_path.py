"""Why the model is as large as it is: errors on held-out rows against the number of stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn._numerals import count
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject
from seplearn.model.record import SizePath


@dataclass(frozen=True, eq=False, repr=False)
class SizeChoice(Explanation):
    """How well models of growing size predicted rows held out, and which size was taken.

    Attributes
    ----------
    paths : tuple of SizePath
        One for every form of the model that was tried: without and with main effects.
    n_stages : int
        Stages of the model as it is. It may have fewer than were grown: a stage that came to say
        nothing is gone, one of a single feature is a main effect, and look-alikes are one. The
        average of several starts has the stages of all, look-alikes again told as one.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=3, main_effects=False, random_state=0).fit(X, y)
    >>> choice = explain.size_path(model)
    >>> choice.chosen.losses[0] > min(choice.chosen.losses)
    True
    >>> int(choice.frame()["chosen"].sum())
    1
    >>> "of 3 stages grown" in str(choice)
    True
    """

    _figure: ClassVar[str] = "plot_size_path"

    paths: tuple[SizePath, ...]
    n_stages: int

    @property
    def chosen(self) -> SizePath:
        """The path whose form and size were taken."""
        return next(path for path in self.paths if path.chosen is not None)

    def __str__(self) -> str:
        path = self.chosen
        taken, grown = path.chosen or 0, len(path.losses) - 1
        if not grown:
            return "no stage was grown" + ", beside main effects" * path.main_effects
        best = int(np.argmin(path.losses))
        if path.main_effects and not taken:
            return self._of_main_effects_alone(path, best)
        text = f"{taken} of {count(grown, 'stage')} grown {'was' if taken == 1 else 'were'} taken"
        if path.main_effects:
            text += ", beside main effects"
        if best != taken:
            worse = path.losses[taken] - path.losses[best]
            text += (
                f"; with {best} the mean loss on held-out rows is smaller by {worse:.3g}, where "
                f"one standard error is {path.errors[taken]:.3g}"
            )
        else:
            text += f", which {'predicts' if taken == 1 else 'predict'} held-out rows best"
        return text + self._left(taken)

    def _of_main_effects_alone(self, path: SizePath, best: int) -> str:
        """Why there is no stage, and how products without main effects did, if they were tried."""
        text = "main effects were taken without any stage"
        if best:
            worse = path.losses[0] - path.losses[best]
            text += (
                f"; with {count(best, 'stage')} beside them the mean loss on held-out rows is "
                f"smaller by {worse:.3g}, where one standard error is {path.errors[0]:.3g}"
            )
        for other in self.paths:
            if not other.main_effects and len(other.losses) > 1:
                size = int(np.argmin(other.losses))
                more = other.losses[size] - path.losses[0]
                text += (
                    f"; {count(size, 'stage')} without them had a loss that is "
                    f"{'larger' if more >= 0 else 'smaller'} by {abs(more):.3g}"
                )
        return text

    def _left(self, taken: int) -> str:
        """How many stages the model has and why, where these are not as many as were taken."""
        if self.n_stages > taken:
            return f"; the model averages several such, {count(self.n_stages, 'stage')} in all"
        if self.n_stages == 0 < taken:
            return (
                "; the finished model has no stage all the same, as those of a single feature "
                "became main effects and those that came to say nothing were dropped"
            )
        if self.n_stages < taken:
            return (
                f"; {self.n_stages} of them {'is' if self.n_stages == 1 else 'are'} left, the "
                "others came to say nothing or are main effects now"
            )
        return ""

    def _columns(self) -> dict[str, Any]:
        """One row per form and size."""
        sizes = [(path, size) for path in self.paths for size in range(len(path.losses))]
        return {
            "main_effects": np.array([path.main_effects for path, _ in sizes]),
            "stages": np.array([size for _, size in sizes], dtype=np.int64),
            "loss": np.array([path.losses[size] for path, size in sizes]),
            "standard_error": np.array([path.errors[size] for path, size in sizes]),
            "chosen": np.array([path.chosen == size for path, size in sizes]),
        }


def size_path(model: Any) -> SizeChoice:
    """Errors on held-out rows against the number of stages, and the size that was taken.

    It is the smallest that is not worse than the best by more than one standard error of the
    difference, row by row, nor by more than 1 % of the loss.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``,
        whose size was chosen (``early_stopping``).

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(500, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> [path.main_effects for path in explain.size_path(model).paths]
    [False, True]
    """
    subject = Subject.of(model)
    if not subject.model.size_paths:
        raise ValueError(
            "size_path needs a model whose number of stages was chosen by held-out rows: fit "
            "TSLRegressor with early_stopping=True, or on at least 20 rows; select_stages and "
            "files of version 0.1 have none"
        )
    return SizeChoice(
        paths=subject.model.size_paths,
        n_stages=len(subject.model.stages),
        library=subject.schema.library,
        quantity=subject.quantity,
    )
