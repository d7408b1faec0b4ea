"""Curves drawn from what their learned smoothness says of them, for bands.

The penalties of a curve are a Gaussian prior of it. A refit to other rows whose penalties pull the
curves not to zero but to a draw from that prior is a draw from the posterior (perturb, then
maximise): its spread has the variance of the curve and, on average over the curve, the bias of its
smoothing. Refits that are pulled to zero have the variance alone, and their bands are too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky_banded, solve_banded

from seplearn.fitting.draws import random_streams
from seplearn.fitting.joint.curves import Anchor, Axes
from seplearn.kernels.arrays import BoolArray, FloatArray, RandomState
from seplearn.kernels.block import FIRST, HOLD, SECOND, SIZE, SMOOTH_BINS

# Penalties on differences: which, from how many ordered bins on, and the difference itself.
_DIFFERENCES = ((FIRST, 2, [-1.0, 1.0]), (SECOND, SMOOTH_BINS, [1.0, -2.0, 1.0]))


class Strength(NamedTuple):
    """What makes penalties a prior: the curvature they are in units of, and the noise."""

    curvature: float
    noise: float


@dataclass(frozen=True, eq=False)
class _CurvePrior:
    """The prior of one curve: of a stage and side, or (-1, 0) of a main effect."""

    stage: int
    side: int
    axis: int
    factor: FloatArray  # upper bands of the root of its precision
    frequencies: FloatArray

    def draw(self, random: np.random.Generator) -> FloatArray:
        """A curve of mean zero; bins without rows, of which nothing is known, stay neutral."""
        drawn = solve_banded((0, 2), self.factor, random.standard_normal(self.factor.shape[1]))
        known = self.frequencies > 0.0
        mean = float(np.average(drawn, weights=self.frequencies))
        curve: FloatArray = np.where(known, drawn - mean, 0.0)
        return curve


@dataclass(frozen=True, eq=False)
class Prior:
    """The priors of all curves of a fit that may move and are not bound to a direction."""

    curves: tuple[_CurvePrior, ...]
    n_stages: int
    n_flat: int
    hashes: RandomState

    @staticmethod
    def of(
        stages: list[tuple[FloatArray, BoolArray, list[Strength]]],
        effects: tuple[FloatArray, BoolArray, Strength],
        axes: Axes,
        hashes: RandomState,
    ) -> Prior:
        """From penalties, which curves are active, and the strengths, of stages and effects."""
        found = []
        for k, (penalties, active, strengths) in enumerate(stages):
            for j, side in zip(*np.nonzero(active), strict=True):
                own = penalties[j, side], strengths[side]
                found.append((k, int(side), int(j), *own))
        penalties, active, strength = effects
        found += [(-1, 0, int(j), penalties[j], strength) for j in np.flatnonzero(active)]
        curves = tuple(
            _CurvePrior(
                k, side, j, _root(mu, own, axes, j), axes.bins.frequencies[axes.bins.axis(j)]
            )
            for k, side, j, mu, own in found
            if axes.direction[j] == 0 and own.curvature > 0.0 and own.noise > 0.0
        )
        return Prior(curves, len(stages), len(axes.bins.frequencies), hashes)

    def draw(self, seed: np.uint64, axes: Axes) -> Anchor:
        """Curves of all stages and main effects; what is random depends on content, not order."""
        streams = random_streams(seed, self.hashes)
        anchor = Anchor(np.zeros((self.n_stages, 2, self.n_flat)), np.zeros(self.n_flat))
        for own in self.curves:
            key = [int(streams[own.axis]), own.stage + 1, own.side]
            curve = own.draw(np.random.default_rng(key))
            there = anchor.effects if own.stage < 0 else anchor.stages[own.stage, own.side]
            there[axes.bins.axis(own.axis)] = curve
        return anchor


def _root(mu: FloatArray, strength: Strength, axes: Axes, j: int) -> FloatArray:
    """The upper bands of a matrix R with R'R = S / noise, for the penalty matrix S of a curve."""
    n_bins, n_ordered = axes.n_bins[j], int(axes.bins.n_ordered[j])
    lower = np.zeros((3, n_bins))
    lower[0] = mu[SIZE] + HOLD / n_bins
    for c, fewest, weights in _DIFFERENCES:
        if n_ordered < fewest:
            continue
        n = n_ordered - len(weights) + 1
        for a, left in enumerate(weights):
            for b in range(a, len(weights)):
                lower[b - a, a : a + n] += mu[c] * left * weights[b]
    root = cholesky_banded(lower * (strength.curvature / strength.noise), lower=True)
    upper = np.zeros((3, n_bins))
    for k in range(3):
        upper[2 - k, k:] = root[k, : n_bins - k]
    return upper
