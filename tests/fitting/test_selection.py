"""The size of a model from its errors on held-out parts."""

import numpy as np
import pytest

from seplearn.fitting.selection import HeldOut, SizePath
from seplearn.losses import Huber, SquaredError


def path_of(*sizes, masses=(1.0, 1.0, 1.0)):
    path = SizePath((), ())
    for parts in sizes:
        path = path.extended(parts, masses)
    return path


def test_the_smallest_mean_error_is_the_best_size():
    path = path_of([9, 9, 9], [4, 5, 6], [3, 3, 7], [4, 4, 6])
    np.testing.assert_allclose(path.losses, [9, 5, 13 / 3, 14 / 3])
    assert path.typical == (9, 5, 3, 4)
    assert path.best == 2


def test_one_part_that_is_far_off_does_not_decide():
    """Two parts say that three stages are far better; one row of the third sends it far off."""
    path = path_of([9, 9, 9], [8, 8, 8], [3, 3, 90], [1, 1, 80])
    assert int(np.argmin(path.losses)) == 1
    assert path.best == 3


def test_a_part_that_is_somewhat_worse_does():
    path = path_of([9, 9, 9], [4, 4, 4], [2, 2, 12])
    assert path.best == 1


def test_parts_are_weighed():
    path = path_of([2.0, 8.0], masses=(1.0, 4.0))
    assert path.losses == (2.0,)
    assert path.typical == (2.0,)


@pytest.mark.parametrize(("n_after", "over"), [(3, False), (4, True)])
def test_a_path_is_over_when_the_last_sizes_brought_nothing(n_after, over):
    assert path_of([9], [5], *[[6]] * n_after, masses=[1.0]).is_over is over


@pytest.mark.parametrize("loss", [SquaredError(), Huber(1.5)])
def test_the_error_of_held_out_rows_is_that_of_the_loss(loss):
    rng = np.random.default_rng(0)
    target, weight = rng.normal(size=50) * 3, rng.uniform(size=50)
    prediction = rng.normal(size=50)
    total = 0.0
    for y, predicted, w in zip(target, prediction, weight, strict=True):
        total += w * naive_loss(abs(y - predicted), loss.grid_threshold)
    held = HeldOut(np.zeros((50, 1), dtype=np.uint16), target, weight, loss)
    assert held.error(prediction) == pytest.approx(total, rel=1e-12)
    for odd in (np.inf, np.nan, 1e200):  # NaN would be the smallest of all errors
        assert held.error(np.full(50, odd)) > 1e150


def naive_loss(off, threshold):
    return off**2 if off <= threshold else 2 * threshold * off - threshold**2
