"""The rows that a fit grows on, and those that it is measured by."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import cycle, islice

import numpy as np

from seplearn.fitting.draws import row_order
from seplearn.fitting.options import LOG_LOSS, FitOptions, TrainingData
from seplearn.fitting.selection import HeldOut, held_out_parts
from seplearn.kernels.arrays import IntArray
from seplearn.losses import ClassLogLoss, Loss

# Of more rows a model grows on a sample, which doubles as the model becomes larger; it is finished
# on all rows. A table of this size itself would lose by it.
_SAMPLED = 50_000
_SAMPLE = 30_000
_LARGEST_SAMPLE = 120_000
_STAGES_TO_DOUBLE = 4


@dataclass(frozen=True, eq=False)
class Validation:
    """What the number of stages is chosen by; nothing at all when ``chooses`` is False.

    Copies are numbers of rows, the same for copies of one, which are held out together where there
    are no groups.
    """

    chooses: bool = False
    eval_set: HeldOut | None = None
    groups: IntArray | None = None
    copies: IntArray | None = None
    fraction: float = 0.15


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that a fit grows on, in an order of which every head is a sample; rows it predicts."""

    data: TrainingData
    kept: IntArray
    held_out: HeldOut
    _samples: dict[int, TrainingData] = field(default_factory=dict)

    def n_rows(self, n_stages: int) -> int:
        """How many rows a model of so many stages grows on: of a large table a sample."""
        n = len(self.kept)
        if n > _SAMPLED:
            n = min(n, _LARGEST_SAMPLE, _SAMPLE * 2 ** (n_stages // _STAGES_TO_DOUBLE))
        return n

    def rows(self, n_stages: int) -> TrainingData:
        """The rows that a model of so many stages grows on."""
        n = self.n_rows(n_stages)
        if n not in self._samples:
            self._samples.clear()
            everyone = n == len(self.data.target)
            self._samples[n] = self.data if everyone else self.data.rows(np.sort(self.kept[:n]))
        return self._samples[n]


def parts_of(
    data: TrainingData, options: FitOptions, validation: Validation
) -> tuple[list[Part], float]:
    """What every fit grows on and what it predicts, and the weight of all rows predicted.

    There are no parts where nothing can be held out. A row that several fits predict counts once.
    """
    if validation.eval_set is not None:
        order = row_order(data)
        parts = [Part(data, order, validation.eval_set)] * options.n_starts
        return parts, float(validation.eval_set.weight.sum())
    if not validation.chooses:
        return [], 0.0
    loss = options.measure(data.target, data.weight)
    pairs = held_out_parts(
        data,
        validation.groups,
        validation.fraction,
        options.n_starts,
        options.loss == LOG_LOSS,
        options.loss_function.told_by(data.target, data.weight),
        validation.copies,
    )
    parts = [Part(data, kept, _held_out(data, held, loss)) for kept, held in pairs]
    if not parts:
        return [], 0.0
    predicted = np.unique(np.concatenate([held for _, held in pairs]))
    n_fits = max(len(parts), options.n_starts)
    return list(islice(cycle(parts), n_fits)), float(data.weight[predicted].sum())


def _held_out(data: TrainingData, rows: IntArray, loss: Loss | ClassLogLoss) -> HeldOut:
    return HeldOut(data.codes[rows], data.target[rows], data.weight[rows], data.offset[rows], loss)
