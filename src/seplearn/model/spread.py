"""How far outcomes lie from predictions, learned from rows that the fit had held out."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import numpy as np

from seplearn._errors import out_of_range
from seplearn.kernels.arrays import CodeArray, FloatArray
from seplearn.table.binning import Bins

MOST_SCORES = 1_000  # quantiles that are kept: a tail of 5 % has fifty of them
_LARGEST = sys.float_info.max


@dataclass(frozen=True, eq=False)
class OutcomeSpread:
    """The width of outcomes around the prediction of a row, and quantiles in units of it.

    The log of the width is ``constant`` plus a curve of every feature and one of the prediction,
    kept between ``least`` and ``most``, the extremes of the held-out rows.

    Attributes
    ----------
    constant : float
    curves : array of shape (n_flat,)
        What every bin of every feature adds to the log of the width.
    edges : array of shape (k,)
        Predictions between which the curve of the prediction is constant.
    by_prediction : array of shape (k + 1,)
        What the prediction adds.
    least, most : float
        Between which the log of a width lies.
    scores : array of shape (m,)
        Outcome minus prediction over the width, of held-out rows, ascending: all of them, or 1,000
        quantiles.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> spread = model.model_.spread
    >>> len(spread.scores), bool((spread.scores[1:] >= spread.scores[:-1]).all())
    (500, True)
    """

    constant: float
    curves: FloatArray
    edges: FloatArray
    by_prediction: FloatArray
    least: float
    most: float
    scores: FloatArray

    def widths(self, codes: CodeArray, bins: Bins, prediction: FloatArray) -> FloatArray:
        """The unit in which outcomes of every row vary around its prediction."""
        logs = self.constant + self.by_prediction[np.searchsorted(self.edges, prediction, "right")]
        for j in range(bins.n_axes):
            logs += self.curves[bins.axis(j)][codes[:, j]]
        widths: FloatArray = np.exp(np.clip(logs, self.least, self.most))
        return widths

    def interval(
        self, codes: CodeArray, bins: Bins, prediction: FloatArray, level: float
    ) -> FloatArray:
        """Ends between which a share ``level`` of outcomes lies, shape (n, 2).

        As many outcomes are expected below the lower end as above the upper one. Each end is the
        score that a new one exceeds no more often than that, if it comes from where the scores do.
        """
        scores = np.array(self.ends(level))
        widths = self.widths(codes, bins, prediction)
        with np.errstate(over="ignore"):
            ends: FloatArray = prediction[:, None] + widths[:, None] * scores
        return np.clip(ends, -_LARGEST, _LARGEST)

    @property
    def highest_level(self) -> float:
        """The largest share of outcomes that an interval can promise."""
        return 1.0 - 2.0 / (len(self.scores) + 1)

    def ends(self, level: float) -> tuple[float, float]:
        """The scores at the lower and the upper end of an interval."""
        n = len(self.scores)
        # Rounding must not take a score away: (1 - 0.9) / 2 * 20 is a little less than one.
        left_out = math.floor(0.5 * (1.0 - level) * (n + 1) + 1e-9)
        if left_out < 1:
            rule = f"at most {self.highest_level:.4g}, as {n} held-out outcomes tell no more"
            raise out_of_range("level", rule, level)
        return float(self.scores[left_out - 1]), float(self.scores[n - left_out])

    def scaled(self, factor: float, origin: float) -> OutcomeSpread:
        """The spread of outcomes times ``factor`` plus ``origin``."""
        more = math.log(factor)
        return replace(
            self,
            constant=self.constant + more,
            edges=self.edges * factor + origin,
            least=self.least + more,
            most=self.most + more,
        )
