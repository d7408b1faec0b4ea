"""Estimators whose training table is on a Dask cluster."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import dask
import dask.array as da
import numpy as np
from distributed import Client, default_client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import wrong_type
from seplearn.dask.fit import fit_on_cluster
from seplearn.dask.inputs import check_table, partitions_of
from seplearn.estimators.classifier import TSLClassifier
from seplearn.estimators.tsl import TSLRegressor
from seplearn.fitting.progress import Callback
from seplearn.table.columns import open_table


def _running_client() -> Client:
    try:
        return default_client()
    except ValueError as error:
        raise ValueError(
            "client must be given where none is running, got None: such as client=Client(address)"
        ) from error


class _DaskEstimator:
    """What both estimators share; ``_local`` is the estimator that is fitted."""

    _kind: ClassVar[type[Any]]

    def __init__(self, client: Client | None = None, **parameters: Any) -> None:
        self.client = client
        self._local = self._kind(**parameters)

    def __repr__(self) -> str:
        return f"Dask{self._local!r}"

    def __getstate__(self) -> dict[str, Any]:
        """Without the client, which is a connection: a copy uses the one that is there."""
        return vars(self) | {"client": None}

    def __sklearn_clone__(self) -> Self:
        """A copy that is not fitted, with the same client."""
        return type(self)(self.client, **clone(self._local).get_params(deep=False))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters."""
        return {"client": self.client} | dict(self._local.get_params(deep))

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters."""
        self.client = parameters.pop("client", self.client)
        self._local.set_params(**parameters)
        return self

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        groups: Any = None,
        offset: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n, p)
        y : dask Series or Array of shape (n,)
            With the partitions of X.
        sample_weight, offset : dask Series or Array of shape (n,), optional
            As the estimator in memory takes them.
        eval_set : pair (X, y), optional
            Tables in memory on which the number of stages is chosen.
        groups : dask Series or Array of shape (n,), optional
            As the estimator in memory takes them. Names of the groups of rows that the client looks
            at come to it, others stay on the workers.
        callback : callable, optional
            Called as ``callback(stage, record)`` after each new stage.

        Returns
        -------
        The fitted estimator itself.
        """
        client = _running_client() if self.client is None else self.client
        if not isinstance(client, Client):
            raise wrong_type("client", "a distributed.Client", client)
        columns = {"y": y, "sample_weight": sample_weight, "groups": groups, "offset": offset}
        given = {name: column for name, column in columns.items() if column is not None}
        fit_on_cluster(client, self._local, X, given, eval_set, callback)
        return self

    def to_local(self) -> Any:
        """The fitted estimator for tables in memory."""
        check_is_fitted(self._local)
        return copy.deepcopy(self._local)

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predictions, computed when they are asked for: a dask Series or Array.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n, p)
        offset : dask Series or Array of shape (n,), optional
        """
        check_is_fitted(self._local)
        return self._lazily("predict", X, offset)

    def _lazily(self, method: str, X: Any, offset: Any) -> Any:
        """What a method gives for every partition."""
        check_table(X)
        some = np.zeros((1, X.shape[1])) if isinstance(X, da.Array) else X._meta_nonempty
        self._local._schema.places_in(open_table(some), type(self).__name__)
        columns = {} if offset is None else {"offset": offset}
        parts = partitions_of(X, columns)
        model, nothing = dask.delayed(self.to_local()), _of_no_rows(self._local, method)
        if not isinstance(X, da.Array):
            given = {"method": method, "model": model, "meta": _frame_of(X._meta, nothing)}
            if isinstance(offset, da.Array):
                columns = {"offset": _as_series(parts["offset"])}
                given["align_dataframes"] = False
            return X.map_partitions(_predicted, *columns.values(), **given)
        predicted = dask.delayed(partial(_predicted, method=method))
        found = [
            da.from_delayed(predicted(*pieces, model=model), (n, *nothing.shape[1:]), nothing.dtype)
            for n, *pieces in zip(X.chunks[0], *parts.values(), strict=True)
        ]
        return da.concatenate(found)


class DaskTSLRegressor(_DaskEstimator):
    """TSLRegressor for tables on a Dask cluster.

    Bins are found and rows turned into their numbers on the workers, where they stay. The model
    grows on rows that the client looks at, about a million at most, and is finished on all rows:
    sums over their blocks are added in a fixed order, so that the model does not depend on the
    number of workers. A worker that is lost has its rows read again elsewhere. With
    ``n_bootstrap`` or ``refine="scalars"`` the bins of all rows go to the client.

    Parameters
    ----------
    client : distributed.Client, optional
        By default the one that is there.
    **parameters
        Those of :class:`seplearn.TSLRegressor`.

    Examples
    --------
    >>> import dask.dataframe as dd  # doctest: +SKIP
    >>> from seplearn.dask import DaskTSLRegressor  # doctest: +SKIP
    >>> table = dd.read_parquet("part-*.parquet")  # doctest: +SKIP
    >>> model = DaskTSLRegressor(client, n_stages=4)  # doctest: +SKIP
    >>> model.fit(table.drop(columns="y"), table["y"])  # doctest: +SKIP
    >>> model.to_local().save("model.tsl")  # doctest: +SKIP
    """

    _kind = TSLRegressor


class DaskTSLClassifier(_DaskEstimator):
    """TSLClassifier for tables on a Dask cluster.

    Bins are found and rows turned into their numbers on the workers, where they stay. The model
    grows on rows that the client looks at, about a million at most, and is finished on all rows:
    sums over their blocks are added in a fixed order, so that the model does not depend on the
    number of workers. A worker that is lost has its rows read again elsewhere. With more than two
    classes or ``n_bootstrap`` the bins of all rows go to the client.

    Parameters
    ----------
    client : distributed.Client, optional
        By default the one that is there.
    **parameters
        Those of :class:`seplearn.TSLClassifier`.

    Examples
    --------
    >>> import dask.dataframe as dd  # doctest: +SKIP
    >>> from seplearn.dask import DaskTSLClassifier  # doctest: +SKIP
    >>> table = dd.read_parquet("part-*.parquet")  # doctest: +SKIP
    >>> model = DaskTSLClassifier(client, n_stages=4)  # doctest: +SKIP
    >>> model.fit(table.drop(columns="y"), table["y"])  # doctest: +SKIP
    >>> model.to_local().save("model.tsl")  # doctest: +SKIP
    """

    _kind = TSLClassifier

    def predict_proba(self, X: Any, offset: Any = None) -> Any:
        """Probabilities of the classes, computed when they are asked for.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n, p)
        offset : dask Series or Array of shape (n,), optional
        """
        check_is_fitted(self._local)
        return self._lazily("predict_proba", X, offset)


def _as_series(pieces: list[Any]) -> Any:
    """Pieces of an array, one for every partition of a data frame, as such a frame has columns."""
    import dask.dataframe as dd  # needs more packages than arrays do
    import pandas as pd

    made = [dask.delayed(pd.Series)(piece) for piece in pieces]
    return dd.from_delayed(made, meta=pd.Series(dtype=np.float64), verify_meta=False)


def _predicted(X: Any, offset: Any = None, *, method: str, model: Any) -> Any:
    """Predictions of a partition, which may have no rows."""
    predict: Callable[..., Any] = getattr(model, method)
    if len(X) == 0:
        return _frame_of(X, _of_no_rows(model, method))
    return _frame_of(X, predict(X) if offset is None else predict(X, offset=offset))


def _of_no_rows(model: Any, method: str) -> Any:
    """What a method gives for a table without rows."""
    classes = getattr(model, "classes_", np.empty(0))
    return np.empty((0, len(classes))) if method == "predict_proba" else classes[:0]


def _frame_of(X: Any, values: Any) -> Any:
    """Predictions with the index of a data frame, or as they are."""
    if not hasattr(X, "index"):
        return values
    import pandas as pd

    if values.ndim == 1:
        # Texts are objects to NumPy, of which pandas may make texts again, but not of none at all.
        kind = "str" if values.dtype == object else values.dtype
        return pd.Series(values, index=X.index[: len(values)], dtype=kind)
    return pd.DataFrame(values, index=X.index[: len(values)])
