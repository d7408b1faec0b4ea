"""Recalibration: the constant and the scales of a model fitted to other rows; its curves stay."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from seplearn.fitting.scalars import least_squares
from seplearn.kernels.arrays import CodeArray, FloatArray
from seplearn.losses import Loss
from seplearn.losses.base import Working
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Branch, Stage

_MOST_STEPS = 100
_MOST_HALVINGS = 20
_ENDED = 1e-12  # the share of the loss by which a step lowers it
_CONSTANT = 1e-12  # the share of a column's square that varies


class Scales(NamedTuple):
    """What is fitted: the constant, a factor of all main effects, sign and log-scale of products.

    The sign and log-scale are those of every product of every stage that is there, in this order.
    """

    intercept: float
    effects: float
    products: list[list[float]]


def rescaled(model: SeparationModel, scales: Scales) -> SeparationModel:
    """The model with these scales; it has no replicates, whose scales are not known."""
    given = iter(scales.products)

    def scaled(branch: Branch | None) -> Branch | None:
        return branch and branch.with_scale(*next(given))

    stages = tuple(Stage(scaled(stage.plus), scaled(stage.minus)) for stage in model.stages)
    return replace(
        model,
        intercept=scales.intercept,
        stages=stages,
        effects=None if model.effects is None else model.effects * scales.effects,
        replicates=(),
    )


class Rows(NamedTuple):
    """Rows to fit scales to."""

    codes: CodeArray
    y: FloatArray
    weight: FloatArray
    offset: FloatArray


def fitted_scales(model: SeparationModel, rows: Rows, loss: Loss, has_constant: bool) -> Scales:
    """The scales that lower the loss most; no product changes its side.

    As in fits, a loss that is not a squared error is replaced step by step by a least-squares
    problem, and a step that would raise it is halved.
    """
    unit = loss.unit(rows.y, rows.weight, has_constant)
    columns, sizes = _columns(model, rows)
    is_free = any(stage.is_signed for stage in model.stages)
    target, offset = unit.measured(rows.y), rows.offset / unit.scale
    # The first entry is the constant; columns are divided by their sizes.
    with np.errstate(divide="ignore"):
        current = np.concatenate([[0.0], np.exp(np.log(np.abs(sizes)) - math.log(unit.scale))])
    current[0] = (model.intercept - unit.origin) / unit.scale
    design = np.column_stack([np.ones(len(target)), columns])
    for _ in range(_MOST_STEPS):
        eta = design @ current + offset
        own = loss.suited_to(target - eta, rows.weight)
        response, weight = own.working(target, eta, rows.weight)
        wanted = _solved(
            columns, Working(response - offset, weight), current, has_constant, is_free
        )
        before = _loss(own, target, eta, rows.weight)
        # Not as a step from here: beside scales of another unit of y all its digits may be lost.
        new = wanted
        for _ in range(_MOST_HALVINGS):
            after = _loss(own, target, design @ new + offset, rows.weight)
            if after <= before:
                break
            new = 0.5 * (current + new)
        else:
            break
        current = new
        if math.isfinite(before) and before - after <= _ENDED * abs(before):
            break
    return _as_scales(model, current, sizes, unit.scale, unit.origin)


def _loss(loss: Loss, target: FloatArray, eta: FloatArray, weight: FloatArray) -> float:
    with np.errstate(over="ignore"):  # of scales that are far off
        rows = loss.restrained(target, eta)
    return float(np.average(rows, weights=weight / weight.max()))


def _columns(model: SeparationModel, rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Main effects together and every product, each divided by its largest size, and the sizes.

    The size of a product that is not there any more is zero, and so is its column.
    """
    columns, sizes = [], []
    parts = [] if model.effects is None else [model.effect_values(rows.codes).sum(axis=1)]
    parts += [
        branch.evaluate(rows.codes, model.bins)
        for stage in model.stages
        for branch in stage.branches
    ]
    for part in parts:
        size = float(np.abs(part).max())
        columns.append(part / (size or 1.0))
        sizes.append(size)
    return np.array(columns).reshape(-1, len(rows.codes)).T, np.array(sizes, dtype=np.float64)


def _solved(
    columns: FloatArray, working: Working, current: FloatArray, has_constant: bool, is_free: bool
) -> FloatArray:
    """Weighted least squares of the response on a constant, if there is one to fit, and columns.

    What does not vary in these rows is not known from them, and stays as it is.
    """
    constant, solution = float(current[0]), current[1:].copy()
    response, weight = working
    weight = weight / weight.sum()
    if not has_constant:
        response = response - constant
    means = weight @ columns if has_constant else np.zeros(columns.shape[1])
    level = float(weight @ response) if has_constant else 0.0
    around = columns - means
    gram = around.T @ (weight[:, None] * around)
    right = around.T @ (weight * (response - level))
    varies = np.diag(gram) > _CONSTANT * (weight @ columns**2)
    right -= around.T @ (weight * (around[:, ~varies] @ solution[~varies]))
    if varies.any():
        solution[varies] = least_squares(gram[np.ix_(varies, varies)], right[varies], is_free)
    new_constant = level - float(means @ solution) if has_constant else constant
    return np.concatenate([[new_constant], solution])


def _as_scales(
    model: SeparationModel, found: FloatArray, sizes: FloatArray, unit: float, origin: float
) -> Scales:
    shares = found[1:] * unit  # in the unit of y
    effects = 1.0
    if model.effects is not None:
        effects = float(shares[0] / sizes[0]) if sizes[0] else 1.0
        shares, sizes = shares[1:], sizes[1:]
    products = []
    branches = [branch for stage in model.stages for branch in stage.branches]
    for branch, share, size in zip(branches, shares, sizes, strict=True):
        sign = branch.coefficient_sign * float(np.sign(share))
        if sign:
            scale = branch.log_scale + math.log(abs(share)) - math.log(size)
            products.append([sign, scale])
        else:
            products.append([0.0, 0.0])
    return Scales(float(found[0] * unit + origin), effects, products)
