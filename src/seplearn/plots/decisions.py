"""How often groups are called a class, and how often that is right."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from seplearn._numerals import count
from seplearn.explain.decisions import Decisions
from seplearn.plots.bars import name_rows
from seplearn.plots.style import GRID, TILT, TOTAL, on_two_lines, panels, short, tidy


def plot_decisions(decisions: Decisions, ax: Any = None, *, max_groups: int = 30) -> Any:
    """Draw the share of every group that is called the class, and how many of them rightly.

    Parameters
    ----------
    decisions : Decisions
        What :func:`seplearn.explain.decisions` returns.
    ax : Axes, optional
        Its place is taken by one panel, or by three where outcomes are known.
    max_groups : int
        How many groups are drawn, those with the most rows; how many are not is told.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, explain, plots
    >>> X, y = datasets.rents(900, random_state=0)
    >>> model = TSLClassifier(n_stages=1, random_state=0).fit(X[:600], y[:600] > 800)
    >>> found = explain.decisions(model, X[600:], y[600:] > 800, by="district")
    >>> len(plots.plot_decisions(found).axes)
    3
    """
    drawn = np.sort(np.argsort(-decisions.rows, kind="stable")[: max(1, max_groups)])
    n, hidden = len(drawn), len(decisions.groups) - len(drawn)
    label = short(decisions.label, 24)
    shares = [("called", f"called {label}", TOTAL)]
    if decisions.has_outcomes:
        shares += [
            ("found", f"of those that are {label}: called it", TOTAL),
            ("wrong", "of all others: called it", TILT),
        ]
    width = 3.6 if len(shares) == 1 else 8.4
    axes, shown = panels(ax, 1, len(shares), (width, 1.5 + 0.26 * n), sharey=True)
    at = np.arange(n)
    for panel, (name, title, colour) in zip(axes[0], shares, strict=True):
        panel.axvline(decisions.overall[name], color=GRID, linewidth=1.0, zorder=0)
        low, high = (getattr(decisions, f"{name}_{end}")[drawn] for end in ("lower", "upper"))
        panel.hlines(at, low, high, color=colour, linewidth=1.3)
        panel.scatter(getattr(decisions, name)[drawn], at, color=colour, s=22, zorder=3)
        tidy(panel)
        panel.set_title(on_two_lines(title, 26), fontsize=9)
        panel.xaxis.set_major_locator(MaxNLocator(4))
        panel.xaxis.set_major_formatter(lambda share, _: f"{100.0 * share:.6g} %")
    names = [f"{decisions.groups[g]} ({decisions.rows[g]:,} rows)" for g in drawn]
    if hidden:
        axes[0, 0].set_xlabel(f"{count(hidden, 'smaller group')} not shown", fontsize=8)
    name_rows(axes[0, 0], names, 40)
    return shown
