"""From a model file back to an estimator."""

from __future__ import annotations

import os

from seplearn._errors import ModelFormatError
from seplearn._params import TSL_PARAMETERS, check_parameters
from seplearn.model.format import read_file
from seplearn.regressor import TSLRegressor


def load_model(path: str | os.PathLike[str]) -> TSLRegressor:
    """Read an estimator that :meth:`TSLRegressor.save` wrote.

    Loading runs no code from the file. Anything that is not a valid model file raises
    :class:`seplearn.ModelFormatError`.

    Parameters
    ----------
    path : str or path

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
    try:
        estimator = TSLRegressor(**stored.params)
        check_parameters(TSL_PARAMETERS, estimator.get_params(deep=False))
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{path}: parameters of the model are not valid: {error}") from error
    estimator._store(stored.schema, stored.model, list(stored.history))
    return estimator
