"""Why the model is as large as it is: errors on held-out rows against the number of stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn._numerals import count
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject
from seplearn.model.classes import ClassModels
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
    of_class : bool
        Whether that is of several classes, or of one of them, of which each may have got a stage
        in every round.

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
    of_class: bool = False

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
        tried = _several(grown, "round of stages" if self.of_class else "stage")
        text = f"{taken} of {tried} grown {'was' if taken == 1 else 'were'} taken"
        if path.main_effects:
            text += ", beside main effects"
        if best == taken:
            text += f", which {'predicts' if taken == 1 else 'predict'} held-out rows best"
        else:
            text += f"; with {best} {_smaller(path, taken, best)}"
        return text + self._left(taken)

    def _of_main_effects_alone(self, path: SizePath, best: int) -> str:
        """Why there is no stage, and how products without main effects did, if they were tried."""
        text = "main effects were taken without any stage"
        grown = "round of stages" if self.of_class else "stage"
        if best:
            text += f"; with {_several(best, grown)} beside them {_smaller(path, 0, best)}"
        for other in self.paths:
            size = int(np.argmin(other.losses))
            if other.main_effects or not size:
                continue
            more = other.losses[size] - path.losses[0]
            if more >= 0.0:
                text += f"; {_several(size, grown)} without them lost {more:.3g} more"
            else:
                text += "; products alone lost no less at the size they would have had"
        return text

    def _left(self, taken: int) -> str:
        """How many stages the model has and why, where these are not as many as were taken."""
        if self.of_class and self.n_stages:
            return ""
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
                "others came to say nothing, are main effects now or are told as one"
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


def _several(n: int, what: str) -> str:
    """A number of stages, or of rounds of them."""
    first, *rest = what.split(" ", 1)
    return " ".join([count(n, first), *rest])


def _smaller(path: SizePath, taken: int, best: int) -> str:
    """How much smaller a loss is than that of the size taken, and why this was taken."""
    less = path.losses[taken] - path.losses[best]
    text = f"the mean loss on held-out rows is smaller by {less:.3g}"
    if path.errors[taken] == 0.0:  # the best by the median of the parts
        return f"{text}, but that of the median part held out is far larger"
    return f"{text}, where one standard error is {path.errors[taken]:.3g}"


def size_path(model: Any) -> SizeChoice:
    """Errors on held-out rows against the number of stages, and the size that was taken.

    It is the smallest that is not worse than the best by more than one standard error of the
    difference, row by row, nor, of one stage or more, by more than 1 % of the loss. Where a few
    rows outweigh all others in the mean, the median of the parts held out decides. Main effects
    without any stage are taken where they lose no more than products alone.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator whose size was chosen (``early_stopping``), or, but of several classes,
        its ``model_``.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(500, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> [path.main_effects for path in explain.size_path(model).paths]
    [False, True]
    """
    subject = Subject.of_any(model)
    models = getattr(model, "model_", None)
    are_several = isinstance(models, ClassModels)
    own = models.models if isinstance(models, ClassModels) else (subject.model,)
    if not subject.model.size_paths:
        raise ValueError(
            "size_path needs a model whose number of stages was chosen by held-out rows: fit it "
            "with early_stopping=True, or on at least 20 rows; select_stages and files of version "
            "0.1 have none"
        )
    return SizeChoice(
        paths=subject.model.size_paths,
        n_stages=sum(len(one.stages) for one in own),
        of_class=are_several or isinstance(getattr(model, "subject", None), Subject),
        library=subject.schema.library,
        quantity=subject.quantity,
    )
