"""An exposure given as it is where its log is meant: fits of rates warn of it."""

from __future__ import annotations

import math

import numpy as np

from seplearn._errors import warn
from seplearn.fitting.options import TrainingData
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import Loss
from seplearn.losses.base import weighted_mean
from seplearn.losses.links import LOG
from seplearn.table.training import total_weight

_LARGEST_SPAN = 30.0  # of an offset: the log of no ratio of exposures is larger
_PARTS = tuple(0.1 * k for k in range(1, 11))  # of a log, that rates may follow
_CLEARLY, _ERRORS = 0.05, 4.0  # what an exposure's log explains more: a share, standard errors


class ExposureWarning(UserWarning):
    """That offsets look like an exposure, not like its log."""


def warn_of_exposure(loss: Loss, rows: TrainingData) -> None:
    """Warn of an exposure that is given as it is, not as its log."""
    if loss.link is not LOG:
        return
    low, high = float(rows.offset.min()), float(rows.offset.max())
    if not (low < high and _is_exposure(loss, rows, rows.offset)):
        return
    told = "all values are above 0 and at most 1" if low > 0.0 and high <= 1.0 else "its values"
    factor = f"a factor of exp({high - low:.4g}) between rows"
    warn(
        f"offset: {told} ({low:.4g} to {high:.4g}), {factor}. If they are an exposure give its "
        "log, offset=np.log(exposure)",
        ExposureWarning,
    )


def _is_exposure(loss: Loss, rows: TrainingData, offset: FloatArray) -> bool:
    """Whether an offset can hardly be a log.

    Years insured are mostly parts of one; of other exposures the log explains clearly more than
    they themselves do, or a part of them, or a constant: rates may fall with the size of an
    exposure, so that a log is worth a part of itself.
    """
    low, high = float(offset.min()), float(offset.max())
    if high - low > _LARGEST_SPAN or (low > 0.0 and high <= 1.0):
        return True
    if low <= 0.0:
        return False
    rest = _left_by(loss, rows, 0.0 * offset)
    for part in _PARTS:  # all of them at once would be eleven columns
        other = _left_by(loss, rows, part * offset)
        if weighted_mean(other, rows.weight) < weighted_mean(rest, rows.weight):
            rest = other
    log = _left_by(loss, rows, np.log(offset))
    left, gain = weighted_mean(rest, rows.weight), weighted_mean(rest - log, rows.weight)
    variance = weighted_mean((rest - log - gain) ** 2, rows.weight)
    error = math.sqrt(variance / total_weight(rows.weight)) if math.isfinite(variance) else 0.0
    return gain > _CLEARLY * left and gain > _ERRORS * error


def _left_by(loss: Loss, rows: TrainingData, offset: FloatArray) -> FloatArray:
    """The losses that an offset leaves beside the best constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        eta = offset + loss.constant(rows.target, rows.weight, offset)
        return loss.of_rows(rows.target, eta)
