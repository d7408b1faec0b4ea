"""An axis of logarithms that is read as multiples: x 0.5, x 1, x 2."""

from __future__ import annotations

from itertools import product
from math import exp, log

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from seplearn.plots.style import number

_STEPS = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
)  # of powers of ten: the coarsest of which enough can be seen
_FEWEST = 4
_NEAR = 0.1  # of the height of a panel
_NARROWEST = 0.1  # so that rounding is not drawn as a curve


def as_multiples(ax: Axes) -> None:
    """Ticks at round multiples along the side of a panel whose values are logarithms."""
    low, high = ax.get_ylim()
    if high - low < _NARROWEST:
        middle = 0.5 * (low + high)
        low, high = middle - 0.5 * _NARROWEST, middle + 0.5 * _NARROWEST
    ticks = ticks_between(low, high)
    ax.set_yticks(ticks, [f"\N{MULTIPLICATION SIGN}{number(exp(tick))}" for tick in ticks])
    ax.set_ylim(low, high)


def ticks_between(low: float, high: float) -> list[float]:
    """Logs of round numbers between two logs."""
    powers = range(int(low / log(10.0)) - 2, int(high / log(10.0)) + 2)
    for steps in _STEPS:
        found = (log(step * 10.0**power) for power, step in product(powers, steps))
        ticks = sorted(tick for tick in found if low <= tick <= high)
        if len(ticks) >= _FEWEST:
            return ticks
    even = np.asarray(MaxNLocator(5).tick_values(exp(low), exp(high))).tolist()
    ticks = [log(value) for value in even if value > 0.0 and low <= log(value) <= high]
    if not low <= 0.0 <= high:
        return ticks
    near = _NEAR * (high - low)  # times one is always told, and has room
    return sorted([0.0, *(tick for tick in ticks if abs(tick) > near)])
