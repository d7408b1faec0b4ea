"""Links: from the sum of curves to the prediction, and the words for what the sum means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from seplearn.kernels.arrays import FloatArray

LARGEST_LOG = 700.0  # exp of more is beyond all numbers


@dataclass(frozen=True)
class Link:
    """How the sum of intercept, main effects and stages becomes a prediction.

    Attributes
    ----------
    name : str
        "identity", "log" or "logit", as in model files.
    scale : str
        What the sum is, in words: "prediction", "log of the prediction", "log-odds".
    factor : str
        What the exponential of a difference of sums is: a "relativity" of predictions, an "odds
        ratio"; empty where it is nothing.
    """

    name: Literal["identity", "log", "logit"]
    scale: str
    factor: str = ""

    def inverse(self, eta: FloatArray) -> FloatArray:
        """The prediction of sums; finite for every number.

        Examples
        --------
        >>> import numpy as np
        >>> LINKS["logit"].inverse(np.array([-1000.0, 0.0, 1000.0])).tolist()
        [0.0, 0.5, 1.0]
        """
        if self.name == "identity":
            return eta
        bounded = np.clip(eta, -LARGEST_LOG, LARGEST_LOG)
        if self.name == "log":
            return np.exp(bounded)
        small = np.exp(-np.abs(bounded))  # never above one, whatever the sign
        return np.where(eta >= 0.0, 1.0, np.where(eta > -LARGEST_LOG, small, 0.0)) / (1.0 + small)

    def exposure(self, offset: FloatArray) -> FloatArray:
        """What an offset multiplies the prediction by: with a log link an exposure, else one."""
        if self.name != "log":
            return np.ones(len(offset))
        return np.exp(np.clip(offset, -LARGEST_LOG, LARGEST_LOG))


IDENTITY = Link("identity", "prediction")
LOG = Link("log", "log of the prediction", "relativity")
LOGIT = Link("logit", "log-odds", "odds ratio")
LINKS = {link.name: link for link in (IDENTITY, LOG, LOGIT)}
