"""Fits to tables on a Dask cluster: rows stay on the workers, and sums of them travel.

Needs the packages dask and distributed (the extra ``dask``).
"""

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ModuleNotFoundError(
        "seplearn.dask needs the packages dask and distributed: pip install 'seplearn[dask]'"
    ) from error

from seplearn.dask.estimators import DaskTSLClassifier, DaskTSLRegressor

__all__ = ["DaskTSLClassifier", "DaskTSLRegressor"]
