"""The models of several classes: a sum for each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.losses import Link
from seplearn.losses.links import SOFTMAX, class_shares
from seplearn.model.model import SeparationModel, central_share
from seplearn.model.record import EditRecord, SizePath
from seplearn.model.reference import Reference
from seplearn.model.stage import Stage
from seplearn.table.binning import Bins


@dataclass(frozen=True, eq=False)
class ClassModels:
    """A sum eta_k for every class k; the probabilities are their softmax.

    The probability of class k is exp(eta_k) over the sum of exp(eta_j) of all classes j. All
    models have the same bins, and what is not of one class: reference rows, paths of sizes, edits.

    Attributes
    ----------
    models : tuple of SeparationModel
        One of every class.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLClassifier, datasets
    >>> X, y = datasets.masked_interaction(300, random_state=0)
    >>> three = np.digitize(y, [-1.0, 1.0])
    >>> model = TSLClassifier(n_stages=1, early_stopping=False, random_state=0).fit(X, three)
    >>> len(model.model_.models)
    3
    """

    models: tuple[SeparationModel, ...]

    @property
    def bins(self) -> Bins:
        return self.models[0].bins

    @property
    def link(self) -> Link:
        return SOFTMAX

    @property
    def reference(self) -> Reference | None:
        return self.models[0].reference

    @property
    def size_paths(self) -> tuple[SizePath, ...]:
        return self.models[0].size_paths

    @property
    def edits(self) -> tuple[EditRecord, ...]:
        return self.models[0].edits

    @property
    def stages(self) -> tuple[tuple[Stage, ...], ...]:
        """The stages of every class."""
        return tuple(model.stages for model in self.models)

    @property
    def intercept(self) -> FloatArray:
        """The constant of every class, shape (K,)."""
        return np.array([model.intercept for model in self.models])

    def centred(self) -> ClassModels:
        """The models with constants of mean zero: what all sums share says nothing."""
        mean = float(self.intercept.mean())
        return self.each(lambda model: replace(model, intercept=model.intercept - mean))

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing but intercepts."""
        return all(model.is_constant for model in self.models)

    @property
    def reading_size(self) -> int:
        """Number of curves of all classes that are not exactly flat."""
        return sum(model.reading_size for model in self.models)

    @property
    def turning_points(self) -> IntArray:
        """How often the curves over numbers change their direction, class by class."""
        return np.concatenate([model.turning_points for model in self.models])

    @cached_property
    def replicates(self) -> tuple[ClassModels, ...]:
        """The same stages refitted to bootstrap samples."""
        own = zip(*(model.replicates for model in self.models), strict=True)
        return tuple(ClassModels(models) for models in own)

    def stage_names(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """A name per stage of every class, made of the ``names`` of features."""
        return tuple(model.stage_names(names) for model in self.models)

    def each(self, change: Callable[[SeparationModel], SeparationModel]) -> ClassModels:
        """The models, each of them changed."""
        return ClassModels(tuple(change(model) for model in self.models))

    def predict(self, codes: CodeArray) -> FloatArray:
        """The sums of all classes for rows given as bin codes, shape (n, K)."""
        return np.column_stack([model.predict(codes) for model in self.models])

    def effect_values(self, codes: CodeArray) -> FloatArray:
        """The main effect of every feature, shape (n, K, p)."""
        return np.stack([model.effect_values(codes) for model in self.models], axis=1)

    def contributions(self, codes: CodeArray) -> FloatArray:
        """Contribution of every stage, shape (n, K, most stages); zeros where a class has fewer."""
        most = max(len(model.stages) for model in self.models)
        out = np.zeros((len(codes), len(self.models), most))
        for k, model in enumerate(self.models):
            out[:, k, : len(model.stages)] = model.contributions(codes)
        return out

    def interval(self, codes: CodeArray, level: float) -> FloatArray:
        """Central share ``level`` of the replicates' probabilities, shape (n, K, 2)."""
        if self.is_constant:
            return np.repeat(class_shares(self.predict(codes))[..., None], 2, axis=2)
        return central_share([other._shares for other in self.replicates], codes, level)

    def _shares(self, codes: CodeArray) -> FloatArray:
        return class_shares(self.predict(codes))

    def difference(self, one: int, other: int) -> SeparationModel:
        """The sum of one class minus that of another: the log of the odds between the two."""
        plus, minus = self.models[one], self.models[other]
        return replace(_difference(plus, minus), replicates=self._differences(one, other))

    def _differences(self, one: int, other: int) -> tuple[SeparationModel, ...]:
        return tuple(_difference(r.models[one], r.models[other]) for r in self.replicates)


def _difference(plus: SeparationModel, minus: SeparationModel) -> SeparationModel:
    effects = None
    if plus.effects is not None or minus.effects is not None:
        zeros = np.zeros(len(plus.bins.frequencies))
        effects = (zeros if plus.effects is None else plus.effects) - (
            zeros if minus.effects is None else minus.effects
        )
    return replace(
        plus,
        intercept=plus.intercept - minus.intercept,
        stages=plus.stages + tuple(stage.negated() for stage in minus.stages),
        effects=effects,
        bags=(),
    )


Model: TypeAlias = SeparationModel | ClassModels


def sums_of(model: Model) -> tuple[SeparationModel, ...]:
    """The sums that a model has: one, or one for each of several classes."""
    return model.models if isinstance(model, ClassModels) else (model,)
