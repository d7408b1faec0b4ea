"""From a model file back to an estimator."""

from __future__ import annotations

import os

from seplearn._errors import ModelFormatError
from seplearn._params import check_parameters
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.classifier import TSLClassifier
from seplearn.estimators.sepals import SepALSRegressor
from seplearn.estimators.tsl import TSLRegressor
from seplearn.model.classes import ClassModels
from seplearn.model.format import StoredModel, read_file

_KINDS: dict[str, type[SeparationEstimator]] = {
    kind._kind: kind for kind in (TSLRegressor, TSLClassifier, SepALSRegressor)
}
_LINKS = {
    TSLRegressor._kind: ("identity", "log"),
    TSLClassifier._kind: ("logit", "softmax"),
    SepALSRegressor._kind: ("identity",),
}


def load_model(path: str | os.PathLike[str]) -> SeparationEstimator:
    """Read an estimator that its ``save`` wrote.

    Loading runs no code from the file. Anything that is not a valid model file, or is damaged in a
    single bit, raises :class:`seplearn.ModelFormatError`; files of 0.1.0, which have no checksum,
    only where what is damaged cannot be a model.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    TSLRegressor, TSLClassifier or SepALSRegressor
        As it was saved.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from seplearn import TSLRegressor, datasets, load_model
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "m.tsl")
    ...     again = load_model(pathlib.Path(folder) / "m.tsl")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    stored = read_file(path)
    if stored.estimator not in _KINDS:
        raise ModelFormatError(
            f"{path}: estimator must be one of {sorted(_KINDS)}, got {stored.estimator!r}"
        )
    try:
        estimator = _KINDS[stored.estimator](**stored.params)
        check_parameters(estimator._parameters, estimator.get_params(deep=False))
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{path}: parameters of the model are not valid: {error}") from error
    estimator._store(stored.schema, stored.model, list(stored.history), stored.provenance)
    _number_constraints(estimator)
    estimator.evaluation_ = stored.evaluation
    if stored.model.link.name not in _LINKS[stored.estimator]:
        link = stored.model.link.name
        raise ModelFormatError(f"{path}: the link {link!r} is not one of {stored.estimator}")
    _check_offset(path, stored)
    is_classifier = isinstance(estimator, TSLClassifier)
    if is_classifier != (stored.classes is not None):
        raise ModelFormatError(f"{path}: classes belong to a classifier, and only to it")
    if isinstance(estimator, TSLClassifier) and stored.classes is not None:
        n_sums = len(stored.model.models) if isinstance(stored.model, ClassModels) else 2
        if len(stored.classes) != n_sums:
            raise ModelFormatError(
                f"{path}: the model is one of {n_sums} classes, got {len(stored.classes)} labels: "
                "a classifier of one sum must have two classes, of others a sum for each"
            )
        estimator.classes_ = stored.classes
        _name_by_classes(estimator)
    return estimator


def _check_offset(path: str | os.PathLike[str], stored: StoredModel) -> None:
    offset, link = stored.schema.offset, stored.model.link.name
    if offset is None or stored.estimator == TSLRegressor._kind:
        return
    if link != "logit":
        raise ModelFormatError(f"{path}: a column of offsets belongs to no model of this kind")
    if offset.is_exposure:
        raise ModelFormatError(f"{path}: log-odds have no exposure")


def _number_constraints(estimator: SeparationEstimator) -> None:
    """Constraints of columns that were named by their number: in a file every key is a string."""
    given = getattr(estimator, "monotonic_cst", None)
    if isinstance(given, dict):
        known = estimator._schema.labels
        keys = {key: int(key) if key not in known and key.isdecimal() else key for key in given}
        estimator.set_params(monotonic_cst={keys[key]: way for key, way in given.items()})


def _name_by_classes(estimator: TSLClassifier) -> None:
    """Weights of classes by their labels: in a file every key is a string."""
    weights = estimator.class_weight
    if isinstance(weights, dict):
        labels = {str(label): label for label in estimator.classes_.tolist()}
        estimator.class_weight = {labels.get(key, key): w for key, w in weights.items()}
