"""Figures of explanations. Needs matplotlib: ``pip install 'seplearn[plots]'``."""

from seplearn.plots.curves import plot_curves

__all__ = ["plot_curves"]
