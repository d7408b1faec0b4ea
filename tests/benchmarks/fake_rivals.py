"""Models that behave badly, for the tests of the harness."""

from __future__ import annotations

import os
import time

import numpy as np

from benchmarks.rivals.interface import OneOf, Real, Rival, Space, Whole
from benchmarks.tasks import REGRESSION


class Mean:
    """The mean, or a constant; ``wait`` seconds late."""

    def __init__(self, shift=0.0, wait=0.0):
        self.shift, self.wait = shift, wait

    def fit(self, X, y):
        time.sleep(self.wait)
        self.mean = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean + self.shift)


class Raises(Mean):
    def fit(self, X, y):
        raise RuntimeError("no such luck")


class Lost(Mean):
    def predict(self, X):
        return np.full(len(X), np.nan)


class Dies(Mean):
    def fit(self, X, y):
        os._exit(9)


def late(parameters, seed):
    return Mean(wait=parameters.get("wait", 0.4), shift=parameters.get("shift", 0.0))


SPACE: Space = {"shift": Real(-50.0, 50.0), "rounds": Whole(1, 3), "kind": OneOf(("a", "b"))}


def shifted(parameters, seed):
    return Mean(shift=parameters["shift"])


def fake(name, make, packages=("numpy",), **options):
    return Rival(name, {REGRESSION: make}, packages, **options)


RIVALS = {
    rival.name: rival
    for rival in (
        fake("seplearn", lambda parameters, seed: Mean()),
        fake("worse", lambda parameters, seed: Mean(shift=100.0)),
        fake("raises", lambda parameters, seed: Raises()),
        fake("lost", lambda parameters, seed: Lost()),
        fake("dies", lambda parameters, seed: Dies()),
        fake("hangs", lambda parameters, seed: Mean(wait=1000.0)),
        fake("absent", lambda parameters, seed: __import__("no_such_module"), ("no-such",)),
        fake("picky", lambda parameters, seed: Mean(), takes_missing=False),
        fake("late", late),
        fake("shifted", shifted, space=SPACE),
    )
}
