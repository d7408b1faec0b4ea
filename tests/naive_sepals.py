"""SepALS written plainly: one dense least-squares problem per mode, as the paper describes it."""

from __future__ import annotations

import numpy as np


def tent(u, level, k):
    """The k-th tent of a level: one at its centre, zero at half the distance to the next."""
    half = 2.0**-level
    centre = (2 * k + 1) * half
    return max(0.0, 1.0 - abs(u - centre) / half)


def tents(u, degree):
    """The constant, the line, and all tents up to a level, at one point."""
    values = [1.0, u]
    for level in range(1, degree + 1):
        values += [tent(u, level, k) for k in range(2 ** (level - 1))]
    return values


def mode_design(designs, coefficients, mode):
    """Columns of the least-squares problem of one mode: phi_k times the other factors."""
    n, rank = len(designs[0]), coefficients[0].shape[1]
    rest = np.ones((n, rank))
    for k, (design, c) in enumerate(zip(designs, coefficients, strict=True)):
        if k != mode:
            rest *= design @ c
    return np.concatenate([rest[:, [a]] * designs[mode] for a in range(rank)], axis=1)


def update_mode(designs, coefficients, mode, target, weight, penalty):
    """min sum_i w_i (t_i - A_i c)^2 + sum_k penalty_k c_k^2, by stacking rows for the penalty."""
    rank, m = coefficients[0].shape[1], designs[mode].shape[1]
    A = mode_design(designs, coefficients, mode)
    root = np.sqrt(weight)
    stacked = np.vstack([root[:, None] * A, np.diag(np.sqrt(np.tile(penalty, rank)))])
    right = np.concatenate([root * target, np.zeros(rank * m)])
    return np.linalg.lstsq(stacked, right, rcond=None)[0].reshape(rank, m).T


def fit(
    designs: list[np.ndarray],
    penalties: list[np.ndarray],
    start: list[np.ndarray],
    target: np.ndarray,
    weight: np.ndarray,
    max_sweeps: int,
    fit_intercept: bool,
) -> np.ndarray:
    """Sweeps over all modes with factors of mean square one; scales refitted after each sweep."""
    coefficients = [c.copy() for c in start]
    share = weight / weight.sum()
    scales, intercept = refit_scales(designs, coefficients, target, weight, fit_intercept)
    for _ in range(max_sweeps):
        for j, design in enumerate(designs):
            c = update_mode(designs, coefficients, j, target - intercept, weight, penalties[j])
            coefficients[j] = c / np.sqrt(share @ (design @ c) ** 2)
        scales, intercept = refit_scales(designs, coefficients, target, weight, fit_intercept)
    return intercept + products(designs, coefficients) @ scales


def products(designs, coefficients):
    return np.prod([d @ c for d, c in zip(designs, coefficients, strict=True)], axis=0)


def refit_scales(designs, coefficients, target, weight, fit_intercept):
    columns = products(designs, coefficients)
    rank = columns.shape[1]
    if fit_intercept:
        columns = np.column_stack([columns, np.ones(len(target))])
    root = np.sqrt(weight)
    solution = np.linalg.lstsq(root[:, None] * columns, root * target, rcond=None)[0]
    return solution[:rank], solution[rank] if fit_intercept else 0.0
