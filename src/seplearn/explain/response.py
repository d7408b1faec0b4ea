"""One feature on the scale of the prediction: probabilities, odds ratios, relativities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn._rules import check_level
from seplearn.explain.class_response import ClassResponse, class_response_of
from seplearn.explain.dependence import dependence_on
from seplearn.explain.ice import sums_along
from seplearn.explain.result import Explanation, band_of, distinct_names
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray
from seplearn.losses.links import LARGEST_LOG, SOFTMAX
from seplearn.model.classes import ClassModels
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.table.binning import Axis
from seplearn.table.columns import make_frame, open_table

_SHOWN_VALUES = 10
_BLOCK = 10_000  # rows at a time, each in as many copies as the feature has bins


@dataclass(frozen=True, eq=False, repr=False)
class Response(Explanation):
    """What one feature does to predictions themselves, not to the sum that they are made of.

    Attributes
    ----------
    feature : int
    name : str
    axis : NumericAxis or CategoricalAxis
    frequencies : array of shape (n_bins,)
        Share of the training weight in each bin.
    response : str
        What is averaged: "prediction", or "probability of" a class.
    average : array of shape (n_bins,)
        The mean prediction of the background rows, the feature set to each of its values in all
        of them. It is an average over these rows: of others it may have another height.
    mean : float
        The mean prediction of the rows as they are.
    n_rows : int
        How many rows that is over.
    factor_name : str
        "odds ratio", "relativity" (times the prediction), or empty without a link.
    factor : array of shape (n_bins,), or None
        The exponential of the partial dependence, beside that of the ``base``: by how much the
        odds, or the prediction, are multiplied on the geometric average over the rows. For a
        feature without interactions it is the same for every row.
    base : str
        What has the factor one: a value of the feature, or "mean".
    average_band, factor_band : array of shape (2, n_bins), or None
        Bootstrap bands.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0)
    >>> model = model.fit(X, y > 800)
    >>> response = explain.response(model, "district", base="market")
    >>> response.response, response.factor_name
    ('probability of True', 'odds ratio')
    >>> list(response.frame().columns)
    ['district', 'frequency', 'average', 'odds_ratio']
    """

    _figure: ClassVar[str] = "plot_response"

    feature: int
    name: str
    axis: Axis
    frequencies: FloatArray
    response: str
    average: FloatArray
    mean: float
    n_rows: int
    factor_name: str
    factor: FloatArray | None
    base: str
    average_band: FloatArray | None = None
    factor_band: FloatArray | None = None

    def _columns(self) -> dict[str, Any]:
        """One row per bin."""
        numbers: dict[str, Any] = {"frequency": self.frequencies, "average": self.average}
        if self.average_band is not None:
            numbers["average_lower"], numbers["average_upper"] = self.average_band
        if self.factor is not None:
            name = self.factor_name.replace(" ", "_")
            numbers[name] = self.factor
            if self.factor_band is not None:
                numbers[f"{name}_lower"], numbers[f"{name}_upper"] = self.factor_band
        (name,) = distinct_names([self.name], numbers)
        return {name: self.axis.describe().values} | numbers


def response(
    model: Any, feature: Any, *, base: Any = None, background: Any = None, level: float = 0.9
) -> Response | ClassResponse:
    """What one feature does to probabilities, rates or amounts, and to odds.

    All other explanations are of the sum of curves: of log-odds, or of the log of a prediction.
    This one is on the scale of predictions: probabilities averaged over rows, and odds ratios or
    relativities, the exponentials of differences of the sum. Of more than two classes it has the
    mean probabilities of all of them.

    Parameters
    ----------
    model : TSLRegressor, TSLClassifier or SeparationModel
        A fitted estimator, or its ``model_``.
    feature : str or int
        Name or position.
    base : value of the feature, optional
        Where the odds ratio or relativity is one. By default it is one at the mean of the sum.
        More than two classes have none.
    background : table, optional
        Rows to average over. By default the reference rows kept in the model.
    level : float
        Share of the bootstrap replicates inside the bands, for a model with ``n_bootstrap``.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> table = datasets.claims(2000, random_state=0)
    >>> model = TSLRegressor(1, loss="poisson", early_stopping=False, random_state=0)
    >>> model = model.fit(table.X, table.n_claims, offset=np.log(table.exposure))
    >>> response = explain.response(model, "region", base="city", background=table.X)
    >>> response.axis.levels[int(np.argmax(response.factor))]
    'city'
    """
    models = getattr(model, "model_", None)
    if isinstance(models, ClassModels):
        return _of_several_classes(model, models, feature, base, background, level)
    subject = Subject.of(model)
    if subject.model.link is SOFTMAX:
        raise ValueError(
            f"model is the {subject.quantity}, which is no probability by itself; give the "
            "classifier, or for_class(label, against=another) of it for odds"
        )
    j = subject.feature(feature)
    level = check_level(level)
    rows = subject.rows(background)
    fitted = subject.model
    at = None if base is None else _bin_of(subject, j, base)
    if base is not None and not fitted.link.factor:
        raise ValueError(
            f"base must not be given: predictions of this model are sums, got {base!r}"
        )
    return response_of(subject, j, rows, level, at)


def _of_several_classes(
    classifier: Any,
    models: ClassModels,
    feature: Any,
    base: Any,
    background: Any,
    level: float,
) -> ClassResponse:
    """Mean probabilities of all classes."""
    if base is not None:
        raise ValueError(
            "base must not be given: odds are of two classes, for_class(label, against=another), "
            f"got {base!r} for more"
        )
    subject = Subject.of_any(classifier)
    j, level = subject.feature(feature), check_level(level)
    rows, labels = subject.rows(background), classifier.classes_.tolist()
    return class_response_of(models, subject, labels, j, rows, level)


def response_of(
    subject: Subject, j: int, rows: Reference, level: float, at: int | None = None
) -> Response:
    """The response to a feature over rows already binned; ``at`` is the bin of the base."""
    fitted = subject.model
    average, factor = _of(fitted, subject, j, rows, at)
    others = [_of(replicate, subject, j, rows, at) for replicate in fitted.replicates]
    has_factor = bool(fitted.link.factor)
    return Response(
        feature=j,
        name=subject.names[j],
        axis=fitted.bins.axes[j],
        frequencies=fitted.bins.frequencies[fitted.bins.axis(j)].copy(),
        response=subject.response,
        average=average,
        mean=float(fitted.link.inverse(fitted.predict(rows.codes)) @ rows.weight),
        n_rows=len(rows.codes),
        factor_name=fitted.link.factor,
        factor=factor if has_factor else None,
        base="mean" if at is None else fitted.bins.axes[j].describe().labels[at],
        average_band=band_of([one for one, _ in others], level),
        factor_band=band_of([one for _, one in others], level) if has_factor else None,
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _of(
    model: SeparationModel, subject: Subject, j: int, rows: Reference, base: int | None
) -> tuple[FloatArray, FloatArray]:
    """The average prediction, and the factor, in every bin of a feature."""
    link = subject.model.link  # which a replicate does not know
    average = np.zeros(model.bins.axes[j].n_bins)
    for start in range(0, len(rows.codes), _BLOCK):
        part = slice(start, start + _BLOCK)
        average += rows.weight[part] @ link.inverse(sums_along(model, rows.codes[part], j))
    dependence = dependence_on(model, subject, (j,), rows)
    beside = dependence.mean if base is None else dependence.total[base]
    return average, np.exp(np.clip(dependence.total - beside, -LARGEST_LOG, LARGEST_LOG))


def _bin_of(subject: Subject, j: int, value: Any) -> int:
    """The bin of one value of a feature, of which there were training rows."""
    axis = subject.model.bins.axes[j]
    try:
        code = int(axis.codes(open_table(make_frame({subject.names[j]: [value]})), 0)[0])
    except (TypeError, ValueError) as error:
        raise type(error)(f"base must be a value of {subject.names[j]!r}: {error}") from error
    frequencies = subject.model.bins.frequencies[subject.model.bins.axis(j)]
    if frequencies[code] == 0.0:
        labels = axis.describe().labels
        had = [label for label, share in zip(labels, frequencies, strict=True) if share > 0.0]
        known = ", ".join([*had[:_SHOWN_VALUES], *["..."] * (len(had) > _SHOWN_VALUES)])
        raise ValueError(
            f"base must be a value of {subject.names[j]!r} that training rows had ({known}), got "
            f"{value!r}"
        )
    return code
