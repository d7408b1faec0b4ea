"""Where a stage of a joint fit starts: grids on some rows and bins, as sweeps do the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seplearn._workers import Workers
from seplearn.fitting.aggregate import Aggregate
from seplearn.fitting.draws import make_draws, some_rows
from seplearn.fitting.grid import Grid
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.fitting.stagewise import fit_stage
from seplearn.kernels.arrays import Draws, FloatArray, IntArray, RandomState
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Axis, Bins, NumericAxis, code_type

# So many rows tell where a stage starts; and where there are many features, so many bins of them
# all, but at least so many of each. Few features keep theirs: with 32 bins each, errors and times
# of the benchmark stayed the same, but there were more curves to read, and the masked interaction
# was read in two ways instead of one.
GRID_ROWS = 5_000
GRID_BINS = 8_192
_FEWEST_BINS = 32
# At each end of an axis so many bins stay as they are: in a heavy tail they span orders of
# magnitude. With 32 bins and none of these the error of brazilian_houses was a fifth higher.
_ENDS = 4


@dataclass(frozen=True, eq=False)
class JoinedBins:
    """Bins of which neighbours may be joined, so that each holds more of the rows.

    Attributes
    ----------
    bins : Bins
        The joined ones.
    of : array of shape (n_flat,)
        In which of them every bin is, both counted over all axes.
    """

    bins: Bins
    of: IntArray

    @staticmethod
    def at_most(most: int, bins: Bins) -> JoinedBins:
        """Join ordered bins so that at most ``most`` are left on every axis; others stay."""
        pairs = [
            _joined(axis, bins.frequencies[bins.axis(j)], most) for j, axis in enumerate(bins.axes)
        ]
        first = np.cumsum([0, *(axis.n_bins for axis, _ in pairs)])
        of = np.concatenate([start + own for start, (_, own) in zip(first, pairs, strict=False)])
        masses = np.bincount(of, weights=bins.frequencies, minlength=int(first[-1]))
        return JoinedBins(Bins(tuple(axis for axis, _ in pairs), masses.astype(np.float64)), of)

    def data(self, rows: TrainingData) -> TrainingData:
        """The rows on the joined bins."""
        numbers = self.of - rows.bins.repeat_per_bin(self.bins.offset[:-1])
        widest = max(axis.n_bins for axis in self.bins.axes)
        codes = numbers.astype(code_type(widest))[rows.bins.flat(rows.codes)]
        return replace(rows, bins=self.bins, codes=codes)

    def spread(self, stage: Stage) -> Stage:
        """A stage on the joined bins as one on all of them."""

        def on_all(branch: Branch | None) -> Branch | None:
            return branch and replace(branch, log_factors=branch.log_factors[self.of])

        return Stage(on_all(stage.plus), on_all(stage.minus))

    def spread_grid(self, grid: Grid) -> Grid:
        """A grid on the joined bins as one on all of them."""
        log_factors, negative = grid.log_factors[:, self.of], grid.negative[self.of]
        return replace(grid, log_factors=log_factors, negative=negative)


def _joined(axis: Axis, frequencies: FloatArray, most: int) -> tuple[Axis, IntArray]:
    """An axis with at most ``most`` ordered bins, and in which of them every bin is.

    A bin goes by where the middle of its rows is among all, so that weights are copies of rows.
    """
    if not isinstance(axis, NumericAxis) or len(axis.edges) < most:
        return axis, np.arange(axis.n_bins)
    ordered = frequencies[:-1]
    shares = (np.cumsum(ordered) - 0.5 * ordered) / max(ordered.sum(), 1e-300)
    begins = np.diff(np.floor(shares * (most - 2 * _ENDS) + 1e-6)) > 0  # not by rounding errors
    begins[:_ENDS] = begins[-_ENDS:] = True
    missing = int(begins.sum()) + 1
    return NumericAxis(axis.edges[begins]), np.concatenate([[0], np.cumsum(begins), [missing]])


class StageStarts:
    """Grids for one stage after the other, on the same rows and bins."""

    def __init__(self, data: TrainingData, options: FitOptions) -> None:
        self._options = options
        self._rows = None if data.n_rows <= GRID_ROWS else some_rows(data, GRID_ROWS)
        some = data if self._rows is None else data.rows(self._rows)
        self._joined = JoinedBins.at_most(most_bins(data.bins.n_axes), some.bins)
        self._data = self._joined.data(some)
        self._draws: Draws = make_draws(some, options.bootstrap)

    def fit(
        self, pull: FloatArray, streams: list[RandomState], workers: Workers
    ) -> tuple[list[Grid], Aggregate]:
        """Grids on what the loss asks of all rows, for a stage to start from.

        The curves of single grids are put on all bins only if the fit keeps them.
        """
        grids, aggregate = fit_stage(
            self._data,
            self._options,
            pull if self._rows is None else pull[self._rows],
            self._options.n_splits,
            self._draws,
            streams,
            workers,
        )
        if self._options.keep_bags:
            grids = [self._joined.spread_grid(grid) for grid in grids]
        return grids, replace(aggregate, stage=self._joined.spread(aggregate.stage))


def most_bins(n_axes: int) -> int:
    """How many ordered bins an axis may have for the grids of a stage."""
    return max(_FEWEST_BINS, GRID_BINS // n_axes)
