"""Refits to bootstrap samples, between which bands lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn._workers import Workers
from seplearn.fitting.draws import make_draws, random_streams
from seplearn.fitting.effort import BOOTSTRAP_SWEEPS, work_of
from seplearn.fitting.joint.fit import Move
from seplearn.fitting.options import TrainingData, most_stages
from seplearn.fitting.progress import Progress
from seplearn.kernels.random import draw_bootstrap
from seplearn.model.classes import Model
from seplearn.model.edit import mean_of


def bootstrap(
    data: TrainingData,
    starts: list[Any],
    n_bootstrap: int,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> list[Model]:
    """Refits to bootstrap samples, a few sweeps from the solution: stages and smoothness stay.

    Each is pulled towards curves drawn from what the smoothness says of them, so that bands have
    the bias of smoothing too.

    All refits move the same way too: sweeps go on where the fit ended, and a sample with fewer
    distinct rows lets curves swing further out. What they move on average is taken off, so that
    the replicates lie around the model.
    """
    hashes = data.axis_hashes
    draws = make_draws(data, True)
    seeds = seed.generate_state(n_bootstrap, np.uint64)
    priors = [fit.prior for fit in starts]
    size = most_stages(starts[0].model())
    work = work_of(len(data.target), BOOTSTRAP_SWEEPS, size) * len(starts)

    def refit(k: int) -> list[Any]:
        counts = np.zeros(len(data.target))
        state = random_streams(seeds[k], hashes)[-1:].copy()
        draw_bootstrap(state, draws.n_draws, draws.order, draws.cumulative, counts)
        own = [
            fit.move(counts * draws.unit, BOOTSTRAP_SWEEPS, prior, seeds[k])
            for fit, prior in zip(starts, priors, strict=True)
        ]
        progress.did(work)
        return own

    moves = workers.map(refit, range(n_bootstrap))
    centres = [_mean_move(own) for own in zip(*moves, strict=True)]
    return [
        mean_of([fit.moved(*pair) for fit, *pair in zip(starts, replicate, centres, strict=True)])
        for replicate in moves
    ]


def _mean_move(moves: tuple[Any, ...]) -> Any:
    """The mean of moves of one sum, or of the moves of every class."""
    if isinstance(moves[0], Move):
        return Move(*(np.mean(parts, axis=0) for parts in zip(*moves, strict=True)))
    return tuple(_mean_move(own) for own in zip(*moves, strict=True))
