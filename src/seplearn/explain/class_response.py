"""One feature on the scale of probabilities, of a classifier of more than two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.ice import sums_along
from seplearn.explain.result import Explanation, band_of, distinct_names
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray
from seplearn.losses.links import class_shares
from seplearn.model.classes import ClassModels
from seplearn.model.reference import Reference
from seplearn.table.binning import Axis

_CELLS = 2_000_000  # scores at a time: of rows, in as many copies as there are bins and classes


@dataclass(frozen=True, eq=False, repr=False)
class ClassResponse(Explanation):
    """What one feature does to the probabilities of several classes.

    Attributes
    ----------
    feature : int
    name : str
    axis : NumericAxis or CategoricalAxis
    frequencies : array of shape (n_bins,)
        Share of the training weight in each bin.
    classes : list
        The labels, in the order of ``classes_``.
    average : array of shape (n_classes, n_bins)
        The mean probabilities of the background rows, the feature set to each of its values in
        all of them; those of a value add up to one.
    mean : array of shape (n_classes,)
        The mean probabilities of the rows as they are.
    n_rows : int
        How many rows that is over.
    average_band : array of shape (2, n_classes, n_bins), or None
        Bootstrap bands.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLClassifier, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> three = np.array(["cheap", "fair", "dear"])[np.digitize(y, [600, 900])]
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0).fit(X, three)
    >>> response = explain.response(model, "area")
    >>> response.classes
    ['cheap', 'dear', 'fair']
    >>> list(response.frame().columns)
    ['area', 'frequency', 'probability of cheap', 'probability of dear', 'probability of fair']
    """

    _figure: ClassVar[str] = "plot_class_response"

    feature: int
    name: str
    axis: Axis
    frequencies: FloatArray
    classes: list[Any]
    average: FloatArray
    mean: FloatArray
    n_rows: int
    average_band: FloatArray | None = None

    def _columns(self) -> dict[str, Any]:
        """One row per bin."""
        numbers: dict[str, Any] = {"frequency": self.frequencies}
        for k, label in enumerate(self.classes):
            numbers[f"probability of {label}"] = self.average[k]
            if self.average_band is not None:
                lower, upper = self.average_band[:, k]
                numbers[f"probability of {label}_lower"] = lower
                numbers[f"probability of {label}_upper"] = upper
        (name,) = distinct_names([self.name], numbers)
        return {name: self.axis.describe().values} | numbers


def class_response_of(
    models: ClassModels,
    subject: Subject,
    classes: Sequence[Any],
    j: int,
    rows: Reference,
    level: float,
) -> ClassResponse:
    """The response of all classes to a feature over rows already binned."""
    replicates = [_average(replicate, j, rows) for replicate in models.replicates]
    return ClassResponse(
        feature=j,
        name=subject.names[j],
        axis=models.bins.axes[j],
        frequencies=models.bins.frequencies[models.bins.axis(j)].copy(),
        classes=list(classes),
        average=_average(models, j, rows),
        mean=rows.weight @ class_shares(models.predict(rows.codes)),
        n_rows=len(rows.codes),
        average_band=band_of(replicates, level),
        library=subject.schema.library,
        quantity="probability",
    )


def _average(models: ClassModels, j: int, rows: Reference) -> FloatArray:
    """The mean probability of every class in every bin of a feature, shape (n_classes, n_bins)."""
    n_classes, n_bins = len(models.models), models.bins.axes[j].n_bins
    total = np.zeros((n_classes, n_bins))
    n_together = max(1, _CELLS // (n_classes * n_bins))
    for start in range(0, len(rows.codes), n_together):
        part = slice(start, start + n_together)
        sums = [sums_along(model, rows.codes[part], j) for model in models.models]
        shares = class_shares(np.stack([one.ravel() for one in sums], axis=1))
        total += np.einsum("r,rbk->kb", rows.weight[part], shares.reshape(-1, n_bins, n_classes))
    return total
