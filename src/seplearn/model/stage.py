"""A stage: a positive product minus a positive product, read as backbone and tilt."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray
from seplearn.kernels.evaluate import log_products, product_signs
from seplearn.table.binning import Bins

# A larger product counts as half the largest number, so that a stage, the difference of two, is
# always a number. Only rows far from all data, or targets near the largest number, come there.
LARGEST_LOG = math.log(sys.float_info.max / 2)

StageKind: TypeAlias = Literal["two products", "one product", "same side", "signed", "nothing"]


@dataclass(frozen=True, eq=False)
class Branch:
    """One separable product: ``coefficient * prod_j a_j(x_j)``.

    Attributes
    ----------
    coefficient_sign : {-1.0, 0.0, 1.0}
        Sign of the coefficient in the prediction; 0 when the scalar refit left nothing of it.
    log_scale : float
        Log of the coefficient's size. Logs are the stored truth: a product of many factors
        becomes a sum, with nothing to overflow on the way.
    log_factors : array of shape (n_flat,)
        Log of ``|a_j|`` in every bin of every axis, centred on each axis.
    negative : array of shape (n_flat,), optional
        Where a_j is negative; None for a positive product.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> branch = model.stages_[0].plus
    >>> branch.coefficient == model.stages_[0].lambda_plus > 0
    True
    >>> bool((branch.factors(model.model_.bins.axis(0)) > 0).all())
    True
    """

    coefficient_sign: float
    log_scale: float
    log_factors: FloatArray = field(repr=False)
    negative: BoolArray | None = field(default=None, repr=False)

    @staticmethod
    def of_signed(factors: FloatArray, coefficient: float, bins: Bins) -> Branch:
        """The product of factors of any sign (n_flat), neutral already where there were no rows.

        A factor of exactly zero has no logarithm; the smallest float stands for it.
        """
        sizes = np.log(np.maximum(np.abs(factors), np.finfo(float).tiny))
        means = bins.means(sizes)
        branch = Branch(1.0, 0.0, sizes - bins.repeat_per_bin(means), negative=factors < 0)
        branch = branch.with_coefficient(coefficient)
        return branch.with_scale(branch.coefficient_sign, branch.log_scale + float(means.sum()))

    @property
    def coefficient(self) -> float:
        return self.coefficient_sign * math.exp(self.log_scale)

    def factors(self, axis: slice) -> FloatArray:
        """The curve on one axis, with its signs; ``axis`` is where it lies in a flat array."""
        size = np.exp(self.log_factors[axis])
        return size if self.negative is None else np.where(self.negative[axis], -size, size)

    def features(self, bins: Bins) -> tuple[int, ...]:
        """The features it depends on: those whose curve is not exactly flat."""
        moves = self.log_factors != 0.0
        if self.negative is not None:
            moves = moves | self.negative
        return tuple(np.flatnonzero(np.logical_or.reduceat(moves, bins.offset[:-1])).tolist())

    def with_scale(self, coefficient_sign: float, log_scale: float) -> Branch:
        """The same curves with another coefficient."""
        return replace(self, coefficient_sign=coefficient_sign, log_scale=log_scale)

    def with_coefficient(self, coefficient: float) -> Branch:
        """The same curves with another coefficient, given as a number."""
        log_scale = math.log(abs(coefficient)) if coefficient else 0.0
        return self.with_scale(float(np.sign(coefficient)), log_scale)

    def scaled(self, factor: float) -> Branch:
        """The branch times a positive number."""
        return replace(self, log_scale=self.log_scale + math.log(factor))

    def evaluate(self, codes: CodeArray, bins: Bins) -> FloatArray:
        """Contribution to the prediction for rows given as bin codes."""
        if self.coefficient_sign == 0.0:
            return np.zeros(len(codes))
        values = self.log_sizes(codes, bins)
        np.exp(np.minimum(values, LARGEST_LOG, out=values), out=values)
        values *= self.signs(codes, bins)
        return values

    def log_sizes(self, codes: CodeArray, bins: Bins) -> FloatArray:
        """Log of the contribution's size, row by row."""
        out = np.empty(len(codes))
        log_products(codes, bins.offset, self.log_factors, out)
        out += self.log_scale
        return out

    def signs(self, codes: CodeArray, bins: Bins) -> FloatArray | float:
        """Sign of the contribution: one for all rows of a positive product, else row by row."""
        if self.negative is None:
            return self.coefficient_sign
        out = np.empty(len(codes))
        product_signs(codes, bins.offset, self.negative, out)
        return self.coefficient_sign * out


@dataclass(frozen=True, eq=False)
class Stage:
    """``lambda_plus * prod a_plus - lambda_minus * prod a_minus``; either part may be absent.

    Attributes
    ----------
    plus, minus : Branch or None
        The two products. The coefficient of ``minus`` carries the minus sign.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> stage = model.stages_[0]
    >>> stage.kind, len(stage.branches)
    ('two products', 2)
    """

    plus: Branch | None
    minus: Branch | None

    @property
    def branches(self) -> tuple[Branch, ...]:
        return tuple(branch for branch in (self.plus, self.minus) if branch is not None)

    @property
    def lambda_plus(self) -> float:
        return 0.0 if self.plus is None else self.plus.coefficient

    @property
    def lambda_minus(self) -> float:
        return 0.0 if self.minus is None else -self.minus.coefficient

    @property
    def sides(self) -> tuple[Branch | None, Branch | None]:
        """The + and the - product; None for one that is absent or has lambda zero."""
        plus, minus = self.plus, self.minus
        return (
            None if plus is None or plus.coefficient_sign == 0.0 else plus,
            None if minus is None or minus.coefficient_sign == 0.0 else minus,
        )

    @property
    def active(self) -> tuple[Branch, ...]:
        """The products that are there and whose lambda is not zero."""
        return tuple(branch for branch in self.sides if branch is not None)

    @property
    def oriented(self) -> tuple[Branch | None, Branch | None]:
        """The branches that add and that subtract, whatever the sign of their lambda.

        Ordinary least squares may turn a lambda negative; the branch then acts for the other side.
        Two branches on one side leave backbone and tilt undefined: see ``kind``.
        """
        adding = [b for b in self.branches if b.coefficient_sign > 0]
        taking = [b for b in self.branches if b.coefficient_sign < 0]
        return (adding[0] if adding else None), (taking[0] if taking else None)

    @property
    def kind(self) -> StageKind:
        """What the stage is made of, and so how it is read.

        "two products": one adds and the other subtracts, so there are a backbone and a tilt.
        "one product": a single positive one, which is its own backbone; it never changes its sign.
        "same side": two positive products that both add, or both subtract.
        "signed": factors may be negative. "nothing": no product is left.
        """
        if not self.active:
            return "nothing"
        if self.is_signed:
            return "signed"
        if len(self.active) == 1:
            return "one product"
        return "same side" if None in self.oriented else "two products"

    @property
    def is_two_branch(self) -> bool:
        """Whether one positive product adds and another subtracts: backbone and tilt exist."""
        return self.kind == "two products"

    @property
    def is_one_branch(self) -> bool:
        """Whether a single positive product is active."""
        return self.kind == "one product"

    @property
    def is_signed(self) -> bool:
        """Whether factors may be negative (``products="single"``)."""
        return any(branch.negative is not None for branch in self.branches)

    @property
    def log_backbone(self) -> FloatArray | None:
        """Log of b_j in every bin of every axis; None for a stage without backbone.

        Of two products ``sqrt(a_plus a_minus)``, of one product its factors.
        """
        if self.kind == "two products":
            return self.halves[0]
        return self.active[0].log_factors if self.kind == "one product" else None

    @property
    def tilt(self) -> FloatArray | None:
        """``d_j = log(a_plus / a_minus) / 2`` in every bin of every axis; None where there is none.

        It follows what the products do: up is where the one that adds to the prediction wins.
        """
        return self.halves[1] if self.kind == "two products" else None

    @property
    def backbone_scale(self) -> float:
        """``b_0 = sqrt(lambda_plus lambda_minus)``, of one product its scale; else NaN."""
        if self.kind not in ("two products", "one product"):
            return math.nan
        logs = [branch.log_scale for branch in self.active]
        return math.exp(sum(logs) / len(logs))

    @property
    def tilt_intercept(self) -> float:
        """``d_0 = log(lambda_plus / lambda_minus) / 2``; NaN where there is no tilt."""
        adding, taking = self.oriented
        if self.kind != "two products" or adding is None or taking is None:
            return math.nan
        return 0.5 * (adding.log_scale - taking.log_scale)

    @property
    def halves(self) -> tuple[FloatArray, FloatArray]:
        """Half the sum and half the difference of the log-factors of two active products.

        The one that adds comes first; of two on one side, the + product.
        """
        adding, taking = self.oriented
        first, second = self.active if adding is None or taking is None else (adding, taking)
        plus, minus = first.log_factors, second.log_factors
        return 0.5 * (plus + minus), 0.5 * (plus - minus)

    def features(self, bins: Bins) -> tuple[int, ...]:
        """The features the stage depends on: a curve that says nothing is exactly flat.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y).model_
        >>> model.stages[0].features(model.bins)
        (0, 1, 2)
        """
        used = {j for branch in self.active for j in branch.features(bins)}
        return tuple(sorted(used))

    def with_scalars(self, lambda_plus: float, lambda_minus: float) -> Stage:
        """The same curves with other scalars."""
        return Stage(
            None if self.plus is None else self.plus.with_coefficient(lambda_plus),
            None if self.minus is None else self.minus.with_coefficient(-lambda_minus),
        )

    def scaled(self, factor: float) -> Stage:
        """The stage times a positive number."""
        return Stage(
            None if self.plus is None else self.plus.scaled(factor),
            None if self.minus is None else self.minus.scaled(factor),
        )

    def negated(self) -> Stage:
        """Minus the stage: what it adds is taken off, and the other way round."""
        plus, minus = (
            branch and branch.with_scale(-branch.coefficient_sign, branch.log_scale)
            for branch in (self.minus, self.plus)
        )
        return Stage(plus, minus)

    def evaluate(self, codes: CodeArray, bins: Bins) -> FloatArray:
        """Contribution of the stage to the prediction for rows given as bin codes."""
        total = np.zeros(len(codes))
        for branch in self.branches:
            total += branch.evaluate(codes, bins)
        return total
