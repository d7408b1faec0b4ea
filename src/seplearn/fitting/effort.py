"""How much work is left of a fit, for the progress that is shown."""

from __future__ import annotations

from seplearn.fitting.joint.fit import LAST_SWEEPS, SWEEPS_AFTER_PRUNING, sweeps_of_stage
from seplearn.fitting.options import FitOptions

BOOTSTRAP_SWEEPS = 10
# What a stage takes beside its sweeps, as if of more rows and stages.
_ROWS_OF_OVERHEAD = 2_000
_STAGES_OF_OVERHEAD = 4


def work_of(n_rows: int, n_sweeps: int, size: int) -> float:
    """Work of sweeps over so many stages, as measured: a row of a stage is a unit of it."""
    return (n_rows + _ROWS_OF_OVERHEAD) * float(n_sweeps) * (size + _STAGES_OF_OVERHEAD)


def stage_work(n_rows: int, options: FitOptions, size: int) -> float:
    """Work of all starts to get the last of so many stages, on all rows."""
    n_sweeps = sweeps_of_stage(size, options.n_stages)
    return work_of(n_rows, n_sweeps, size) * options.n_starts


def finishing_work(n_rows: int, options: FitOptions, n_fits: int, size: int) -> float:
    """Work after growth, by fits of so many stages; bands are a part of it."""
    n_sweeps = LAST_SWEEPS + SWEEPS_AFTER_PRUNING
    return work_of(n_rows, n_sweeps, size) * n_fits + band_work(n_rows, options, size)


def band_work(n_rows: int, options: FitOptions, size: int) -> float:
    """Work of all refits to bootstrap samples."""
    one = work_of(n_rows, BOOTSTRAP_SWEEPS, size)
    return one * options.n_bootstrap * options.n_starts
