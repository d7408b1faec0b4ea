"""Links: from the sum of curves to the prediction, and the words for what the sum means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from seplearn.kernels.arrays import FloatArray

LARGEST_LOG = 700.0  # exp of more is beyond all numbers


@dataclass(frozen=True)
class Link:
    """How the sum of intercept, main effects and stages becomes a prediction.

    Attributes
    ----------
    name : str
        "identity", "log", "logit" or "softmax", as in model files.
    scale : str
        What the sum is, in words: "prediction", "log of the prediction", "log-odds", "score".
    factor : str
        What the exponential of a difference of sums is: a "relativity" of predictions, an "odds
        ratio"; empty where it is nothing.
    """

    name: Literal["identity", "log", "logit", "softmax"]
    scale: str
    factor: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or one from a pickle, is the link itself."""
        return _link_of, (self.name,)

    def inverse(self, eta: FloatArray) -> FloatArray:
        """The prediction of sums; finite for every number.

        The link of several classes makes nothing of the sum of one of them, and leaves it as it is:
        see :func:`class_shares`.

        Examples
        --------
        >>> import numpy as np
        >>> LINKS["logit"].inverse(np.array([-1000.0, 0.0, 1000.0])).tolist()
        [0.0, 0.5, 1.0]
        """
        if self.name in ("identity", "softmax"):
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
SOFTMAX = Link("softmax", "score")
LINKS = {link.name: link for link in (IDENTITY, LOG, LOGIT, SOFTMAX)}


def _link_of(name: Literal["identity", "log", "logit", "softmax"]) -> Link:
    return LINKS[name]


def class_shares(eta: FloatArray) -> FloatArray:
    """Probabilities of classes from their sums (n, K); they add up to one.

    Examples
    --------
    >>> import numpy as np
    >>> class_shares(np.array([[-1e300, 700.0, 700.0]])).tolist()
    [[0.0, 0.5, 0.5]]
    """
    with np.errstate(over="ignore"):  # the difference of huge numbers: infinitely unlikely
        sizes = np.exp(eta - eta.max(axis=1, keepdims=True))
    shares: FloatArray = sizes / sizes.sum(axis=1, keepdims=True)
    return shares
