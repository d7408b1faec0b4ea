"""Main effects: what every feature adds to the prediction by itself, exactly as the model does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn._rules import check_level
from seplearn.explain.result import Explanation, band_of
from seplearn.explain.sizes import effect_spreads
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray
from seplearn.table.binning import Axis


@dataclass(frozen=True, eq=False, repr=False)
class MainEffects(Explanation):
    """A curve per feature, in the unit of y: the additive part of the model.

    Attributes
    ----------
    names, axes, frequencies
        Of the features.
    values : tuple of array of shape (n_bins,)
        The main effect of every feature in each of its bins. Its mean over the training rows is
        zero; so is a value that no training row had.
    spread : array of shape (p,)
        Standard deviation of every main effect over the training rows.
    bands : tuple of array of shape (2, n_bins)
        Bootstrap bands, lower and upper end; empty for a model without replicates.
    factor_name : str
        What the exponential of a main effect is: an "odds ratio" or a "relativity", beside the
        mean of the log-odds or logs; empty for a model without a link.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=1, main_effects=True, random_state=0).fit(X, y)
    >>> effects = explain.main_effects(model)
    >>> effects.names[:2], bool(effects.spread[0] > effects.spread[1])
    (('area', 'rooms'), True)
    >>> list(effects.frame().columns)
    ['feature', 'bin', 'lower', 'upper', 'level', 'meaning', 'frequency', 'effect']
    """

    _figure: ClassVar[str] = "plot_main_effects"

    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    frequencies: tuple[FloatArray, ...]
    values: tuple[FloatArray, ...]
    spread: FloatArray
    bands: tuple[FloatArray, ...] = ()
    factor_name: str = ""

    @property
    def factors(self) -> tuple[FloatArray, ...]:
        """By what every feature multiplies the odds, or the prediction: the exponentials."""
        if not self.factor_name:
            raise ValueError("main effects are added to predictions: the model has no link")
        return tuple(np.exp(values) for values in self.values)

    def _columns(self) -> dict[str, Any]:
        """One row per feature and bin; numeric bins have bounds, categorical ones a level."""
        descriptions = [axis.describe() for axis in self.axes]
        sizes = [axis.n_bins for axis in self.axes]
        columns: dict[str, Any] = {
            "feature": np.repeat(np.array(self.names, dtype=object), sizes),
            "bin": np.concatenate([np.arange(size) for size in sizes]),
            "lower": np.concatenate([one.lower for one in descriptions]),
            "upper": np.concatenate([one.upper for one in descriptions]),
            "level": [
                label if one.kind == "categorical" else ""
                for one in descriptions
                for label in one.labels
            ],
            "meaning": [meaning for one in descriptions for meaning in one.meanings],
            "frequency": np.concatenate(self.frequencies),
            "effect": np.concatenate(self.values),
        }
        if self.bands:
            ends = np.concatenate(self.bands, axis=1)
            columns["effect_lower"], columns["effect_upper"] = ends
        if self.factor_name:
            parts = ("effect", "effect_lower", "effect_upper")
            names = [part.replace("effect", self.factor_name.replace(" ", "_")) for part in parts]
            present = zip(names, parts, strict=True)
            columns |= {name: np.exp(columns[part]) for name, part in present if part in columns}
        return columns


def main_effects(model: Any, *, level: float = 0.9) -> MainEffects:
    """What every feature adds to the prediction whatever the others are.

    The model must have main effects: ``main_effects="auto"`` finds them where they help, ``True``
    always has them. What a feature does together with others is in the stages: see
    :func:`partial_dependence` for both together.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``,
        whose features are named by position.
    level : float
        Share of the bootstrap replicates inside the bands, for a model fitted with
        ``n_bootstrap``. The bands are pointwise, conditional on the stages and the smoothness.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=1, main_effects=True, random_state=0).fit(X, y)
    >>> effects = explain.main_effects(model)
    >>> means = [f @ v for f, v in zip(effects.frequencies, effects.values)]
    >>> bool(abs(sum(means)) < 1e-9)
    True
    """
    subject = Subject.of(model)
    level = check_level(level)
    fitted, bins = subject.model, subject.model.bins
    if fitted.effects is None:
        raise ValueError(
            "model has no main effects: none were fitted, or edits took all of them out"
        )
    parts = [bins.axis(j) for j in range(bins.n_axes)]
    band: FloatArray | None = band_of([other.effects for other in fitted.replicates], level)
    return MainEffects(
        names=subject.names,
        axes=bins.axes,
        frequencies=tuple(bins.frequencies[part].copy() for part in parts),
        values=tuple(fitted.effects[part].copy() for part in parts),
        spread=effect_spreads(fitted.effects, bins),
        bands=() if band is None else tuple(band[:, part] for part in parts),
        factor_name=fitted.link.factor,
        library=subject.schema.library,
        quantity=subject.quantity,
    )
