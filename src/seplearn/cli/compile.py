"""``seplearn compile``: fill the cache of compiled kernels, so that no first fit has to wait."""

from __future__ import annotations

import time

import click
import numpy as np

from seplearn import TSLRegressor, datasets, explain
from seplearn.cli.lines import note
from seplearn.table.blocks import ROWS_PER_BLOCK

# Some kernels are for bins that a byte does not tell apart, some for rows in several blocks.
_MANY_BINS = 300


@click.command(name="compile")
def compile_kernels() -> None:
    """Compile what fits and predictions run, once, as for a container image.

    Otherwise the first fit after installation does so. Compiled kernels are kept beside the
    package, or in the folder that NUMBA_CACHE_DIR names.
    """
    started = time.perf_counter()
    X, y = datasets.masked_interaction(2 * _MANY_BINS, random_state=0)
    for max_bins in (15, _MANY_BINS):
        model = TSLRegressor(
            n_stages=2,
            n_grids=2,
            max_bins=max_bins,
            n_bootstrap=1,
            monotonic_cst=np.eye(1, X.shape[1], dtype=np.int64)[0],
            random_state=0,
            n_jobs=1,
        ).fit(X, y)
        model.predict(X)
        explain.importance(model)
    many = datasets.masked_interaction(ROWS_PER_BLOCK + 1, random_state=0)
    TSLRegressor(1, max_bins=15, early_stopping=False, random_state=0, n_jobs=1).fit(*many)
    note(f"kernels are compiled ({time.perf_counter() - started:.0f} s)")
