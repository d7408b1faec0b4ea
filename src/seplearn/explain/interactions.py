"""How much features act together: exact Sobol indices and Friedman's H."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.products import scaled_factors
from seplearn.explain.result import Explanation
from seplearn.explain.sizes import largest
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.model.stage import Branch
from seplearn.table.binning import Bins
from seplearn.table.columns import make_frame

_ROUNDING = 1e-20  # a mean square below this share of the prediction's is rounding


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(Explanation):
    """Shares of the model's variance, and how far partial dependences are from being additive.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    variance : float
        Variance of the prediction if features were independent, each distributed as in training.
    main, total : array of shape (p,)
        Sobol indices: the share of ``variance`` that a feature explains alone, and the share that
        is lost without it. ``total - main`` is what it does together with others.
    pairwise : array of shape (p, p)
        The share that a pair explains beyond the two alone; the diagonal is zero.
    together : array of shape (p, p)
        The share of all parts in which both features of a pair take part, with others or not: what
        would be gone if the two did not act together. At least ``pairwise``; the diagonal is zero.
    h : array of shape (p, p)
        Friedman's H of pairs over the background rows: 0 when the two features' joint partial
        dependence is the sum of the single ones. Above 1 the single effects cancel parts of it.
    h_total : array of shape (p,)
        H of each feature against all others together.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> interactions = explain.interactions(model)
    >>> bool((interactions.total >= interactions.main - 1e-9).all())
    True
    >>> list(interactions.frame().columns)
    ['first', 'second', 'pairwise', 'h']
    """

    _figure: ClassVar[str] = "plot_interactions"

    names: tuple[str, ...]
    variance: float
    main: FloatArray
    total: FloatArray
    pairwise: FloatArray
    together: FloatArray
    h: FloatArray
    h_total: FloatArray

    def _columns(self) -> dict[str, Any]:
        """One row per pair, the strongest first."""
        first, second = np.triu_indices(len(self.names), 1)
        order = np.argsort(-self.pairwise[first, second], kind="stable")
        first, second = first[order], second[order]
        return {
            "first": [self.names[j] for j in first],
            "second": [self.names[k] for k in second],
            "pairwise": self.pairwise[first, second],
            "h": self.h[first, second],
        }

    def feature_frame(self) -> Any:
        """One row per feature, as a data frame."""
        columns = {
            "feature": list(self.names),
            "main": self.main,
            "total": self.total,
            "h_total": self.h_total,
        }
        return make_frame(columns, self.library)


def interactions(model: Any, *, background: Any = None) -> Interactions:
    """How much features act alone and together.

    Sobol indices take features as independent, with the frequencies of their bins; for products
    they follow from the first two moments of every factor, without sampling. Friedman's H takes
    the rows of the background as they are.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    background : table, optional
        Rows for both. By default Sobol indices use the frequencies of all training rows and H the
        reference rows kept in the model.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> interactions = explain.interactions(model)
    >>> bool(interactions.main.sum() < 0.3 < interactions.total[0])
    True
    """
    subject = Subject.of(model)
    rows = subject.rows(background)
    bins = subject.model.bins
    counted = bins if background is None else bins.with_frequencies_of(rows.codes, rows.weight)
    shift, branches, effects = _in_unit(subject.model, rows)
    variance, main, total, pairwise, together = _sobol(branches, effects, counted)
    h, h_total = _friedman(branches, effects, bins, rows)
    with np.errstate(over="ignore"):
        variance = float(variance * np.exp(2.0 * shift))
    return Interactions(
        quantity=subject.quantity,
        names=subject.names,
        variance=variance,
        main=main,
        total=total,
        pairwise=pairwise,
        together=together,
        h=h,
        h_total=h_total,
        library=subject.schema.library,
    )


def additive_share(model: SeparationModel, rows: Reference, counted: Bins) -> float:
    """Share of the variance that features explain each by itself, were they independent.

    ``counted`` are the model's bins with the frequencies that count.
    """
    _, branches, effects = _in_unit(model, rows)
    main = _sobol(branches, effects, counted)[1]
    return float(main.sum())


def _in_unit(model: SeparationModel, rows: Reference) -> tuple[float, list[Branch], FloatArray]:
    """The log of a unit in which nothing is larger than one, and products and effects in it.

    Squares of them then neither overflow nor underflow, whatever the unit of y.
    """
    branches = [branch for stage in model.stages for branch in stage.active]
    sizes = [float(branch.log_sizes(rows.codes, model.bins).max()) for branch in branches]
    effects = np.zeros(len(model.bins.frequencies)) if model.effects is None else model.effects
    biggest = largest(effects)
    if effects.any():
        sizes.append(math.log(biggest))
    shift = max(sizes, default=0.0)
    effects = effects / biggest * math.exp(min(math.log(biggest) - shift, 0.0))
    branches = [replace(branch, log_scale=branch.log_scale - shift) for branch in branches]
    return shift, branches, effects


def _sobol(
    branches: list[Branch], effects: FloatArray, bins: Bins
) -> tuple[float, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Variance, main, total and pairwise indices, and those of pairs with any others.

    With branches u, v of signs s, M_j = E[a_uj a_vj] and K_j = Cov(a_uj, a_vj), the variance of
    the part that depends on exactly the features S is sum_uv s_u s_v prod_{j in S} K_j
    prod_{k not in S} E[a_uk] E[a_vk]; summed over all S with j in it, K_j prod_{k != j} M_k; with
    j and k in it, K_j K_k times the M of all others. A main effect adds its variance to the part
    of its feature alone, and twice its covariance with what the products say about that feature
    alone.
    """
    p, n = bins.n_axes, len(branches)
    signs = np.array([branch.coefficient_sign for branch in branches])
    factors = np.array([scaled_factors(b, p) for b in branches]).reshape(n, bins.offset[-1])
    first = factors[:, bins.offset[:-1]]  # the mean of what differs from it: a flat curve is exact
    means = first + bins.means(factors - bins.repeat_per_bin(first))  # (n, p)
    centred = factors - bins.repeat_per_bin(means)
    cov, square = np.empty((p, n, n)), np.empty((p, n, n))
    for j in range(p):
        part = centred[:, bins.axis(j)]
        cov[j] = (part * bins.frequencies[bins.axis(j)]) @ part.T
        square[j] = np.outer(means[:, j], means[:, j])
    moment = cov + square
    both = np.outer(signs, signs)
    rest_moment, rest_square = _products_without_one(moment), _products_without_one(square)
    # The variance as a sum over the first feature that varies: nothing cancels.
    running, variance = both, 0.0
    for j in range(p):
        after = np.prod(moment[j + 1 :], axis=0)
        variance += float(np.sum(running * cov[j] * after))
        running = running * square[j]
    main = np.array([np.sum(both * cov[j] * rest_square[j]) for j in range(p)])
    total = np.array([np.sum(both * cov[j] * rest_moment[j]) for j in range(p)])
    alone = _added_by_effects(signs, means, centred, effects, bins)
    variance, main, total = variance + float(alone.sum()), main + alone, total + alone
    scale = 1.0 / variance if variance > 0 else 0.0
    pairwise, together = (_of_pairs(both, cov, part) * scale for part in (square, moment))
    return variance, main * scale, total * scale, pairwise, together


def _of_pairs(both: FloatArray, cov: FloatArray, rest: FloatArray) -> FloatArray:
    """sum_uv s_u s_v K_j K_k times the product of ``rest`` over all other features, (p, p)."""
    p = len(cov)
    found = np.zeros((p, p))
    varies = cov.any(axis=(1, 2))
    moving = np.flatnonzero(varies)  # of many features few are in a product
    signed = both * np.prod(rest[~varies], axis=0)
    for a, j in enumerate(moving):
        others = _products_without_one(rest[np.delete(moving, a)])
        for b in range(a + 1, len(moving)):
            k = moving[b]
            found[j, k] = found[k, j] = np.sum(signed * cov[j] * cov[k] * others[b - 1])
    return found


def _added_by_effects(
    signs: FloatArray, means: FloatArray, centred: FloatArray, effects: FloatArray, bins: Bins
) -> FloatArray:
    """Var(h_j + g_j) - Var(h_j) of every feature: h_j is what products say about it alone."""
    others = _products_without_one(means.T) * signs  # (p, n)
    own = effects - bins.repeat_per_bin(bins.means(effects))
    by_products = np.zeros_like(own)
    for j in range(bins.n_axes):
        by_products[bins.axis(j)] = others[j] @ centred[:, bins.axis(j)]
    return bins.means(own * (own + 2.0 * by_products))


def _products_without_one(matrices: FloatArray) -> FloatArray:
    """For each of p matrices the elementwise product of all others, without dividing."""
    before, behind = np.ones_like(matrices), np.ones_like(matrices)
    for j in range(1, len(matrices)):
        before[j] = before[j - 1] * matrices[j - 1]
        behind[-j - 1] = behind[-j] * matrices[-j]
    products: FloatArray = before * behind
    return products


def _friedman(
    branches: list[Branch], effects: FloatArray, bins: Bins, rows: Reference
) -> tuple[FloatArray, FloatArray]:
    """H of all pairs and H of every feature against the rest, over the rows."""
    weight, p = rows.weight, bins.n_axes
    at = bins.flat(rows.codes).T  # (p, n)
    shape = (len(branches), *at.shape)
    logs = np.array([b.log_factors[at] for b in branches]).reshape(shape)
    signs = np.array([np.sign(b.factors(slice(None)))[at] for b in branches]).reshape(shape)
    whole = np.array([b.log_sizes(rows.codes, bins) for b in branches]).reshape(shape[0], shape[2])
    lambdas = np.array([b.coefficient_sign for b in branches])[:, None]
    all_signs = lambdas * signs.prod(axis=1)
    own = effects[at]

    def centred(value: FloatArray) -> FloatArray:
        return value - value @ weight

    def dependence(*features: int) -> FloatArray:
        """Partial dependence at the rows: constants are means of the product of other factors."""
        log, sign = (part[:, features] for part in (logs, signs))
        inside, sign = log.sum(axis=1), sign.prod(axis=1)
        constants = (all_signs * sign * np.exp(whole - inside)) @ weight
        return centred(constants @ (sign * np.exp(inside)) + own[list(features)].sum(axis=0))

    def rest(j: int) -> FloatArray:
        """Partial dependence at the rows on all features but one."""
        means = (signs[:, j] * np.exp(logs[:, j])) @ weight
        products = means @ (all_signs * signs[:, j] * np.exp(whole - logs[:, j]))
        return centred(products + np.delete(own, j, axis=0).sum(axis=0))

    def ratio(mixed: FloatArray, sum_of_all: FloatArray) -> float:
        size = float(weight @ sum_of_all**2)
        return float(np.sqrt(weight @ mixed**2 / size)) if size > _ROUNDING * scale else 0.0

    prediction = centred((all_signs * np.exp(whole)).sum(axis=0) + own.sum(axis=0))
    scale = float(weight @ prediction**2)
    # What is in no product acts with nothing else.
    varies = ((logs != logs[:, :, :1]) | (signs != signs[:, :, :1])).any(axis=(0, 2))
    moving = np.flatnonzero(varies).tolist()
    single = {j: dependence(j) for j in moving}
    h, h_total = np.zeros((p, p)), np.zeros(p)
    for j in moving:
        h_total[j] = ratio(prediction - single[j] - rest(j), prediction)
    for j, k in combinations(moving, 2):
        pair = dependence(j, k)
        h[j, k] = h[k, j] = ratio(pair - single[j] - single[k], pair)
    return h, h_total
