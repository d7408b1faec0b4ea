"""The oracle of explanations: definitions and brute force, on nothing but predictions.

``predict`` is any function of bin codes: a model's prediction, a stage's contribution, a product.
Averages run over the rows one by one, coalitions and combinations of bins are listed.
"""

from __future__ import annotations

import itertools
import math

import numpy as np


def mean_with(predict, codes, weight, values):
    """Mean prediction over rows in which some features, ``{feature: bin}``, are overwritten."""
    edited = codes.copy()
    for j, value in values.items():
        edited[:, j] = value
    return float(np.sum(weight * predict(edited)))


def partial_dependence(predict, codes, weight, features, n_bins):
    """The mean with the features in every combination of their bins."""
    out = np.empty([n_bins[j] for j in features])
    for bins in np.ndindex(out.shape):
        values = dict(zip(features, bins, strict=True))
        out[bins] = mean_with(predict, codes, weight, values)
    return out


def dependence_at(predict, rows, codes, weight, features):
    """Partial dependence at the rows themselves."""
    return np.array(
        [mean_with(predict, codes, weight, {j: row[j] for j in features}) for row in rows]
    )


def individual(predict, codes, feature, n_bins):
    """The prediction of every row with one feature in each of its bins."""
    out = np.empty((len(codes), n_bins))
    for b in range(n_bins):
        edited = codes.copy()
        edited[:, feature] = b
        out[:, b] = predict(edited)
    return out


def shapley(predict, row, codes, weight):
    """Shapley values of one row: every coalition of the other features, with and without each."""
    features = range(codes.shape[1])
    p = len(features)
    value = {
        coalition: mean_with(predict, codes, weight, {j: row[j] for j in coalition})
        for size in range(p + 1)
        for coalition in itertools.combinations(features, size)
    }
    out = np.zeros(p)
    for k in features:
        for coalition in (c for c in value if k not in c):
            orders = math.factorial(len(coalition)) * math.factorial(p - len(coalition) - 1)
            with_k = value[tuple(sorted((*coalition, k)))]
            out[k] += orders / math.factorial(p) * (with_k - value[coalition])
    return out


def shapley_of_product(row, background, weight):
    """The same for the plain product of ``row``, with the factors of background rows."""
    codes = np.tile(np.arange(len(background))[:, None], (1, len(row)))
    factors = np.vstack([background, row])
    here = np.full(len(row), len(background))

    def predict(chosen):
        return np.array([math.prod(factors[b, j] for j, b in enumerate(line)) for line in chosen])

    return shapley(predict, here, codes, weight)


def sobol_terms(predict, frequencies):
    """Variance of the part that belongs to exactly each set of features, by Moebius inversion.

    ``frequencies`` are given per axis; features are independent. Every combination of bins is
    predicted.
    """
    shape = tuple(len(f) for f in frequencies)
    codes = np.array(list(np.ndindex(shape)), dtype=np.uint16)
    values = predict(codes).reshape(shape)
    p = len(shape)
    mean = values
    for j in reversed(range(p)):
        mean = np.average(mean, axis=j, weights=frequencies[j])
    values = values - mean  # squares of deviations lose no digits to the mean
    explained: dict[tuple[int, ...], float] = {(): 0.0}
    for size in range(1, p + 1):
        for inside in itertools.combinations(range(p), size):
            expected = values
            for j in reversed(range(p)):
                if j not in inside:
                    expected = np.average(expected, axis=j, weights=frequencies[j])
            square = expected**2
            for j in reversed(inside):
                square = np.average(square, axis=inside.index(j), weights=frequencies[j])
            explained[inside] = float(square)
    return {
        inside: sum(
            (-1) ** (len(inside) - size) * explained[part]
            for size in range(len(inside) + 1)
            for part in itertools.combinations(inside, size)
        )
        for inside in explained
    }


def sobol(predict, frequencies):
    """Variance, main, total and pairwise indices from all terms."""
    terms, p = sobol_terms(predict, frequencies), len(frequencies)
    variance = sum(terms.values())
    main = np.array([terms[j,] for j in range(p)])
    total = np.array([sum(v for inside, v in terms.items() if j in inside) for j in range(p)])
    pairwise = np.zeros((p, p))
    for j, k in itertools.combinations(range(p), 2):
        pairwise[j, k] = pairwise[k, j] = terms[j, k]
    return variance, main / variance, total / variance, pairwise / variance


def friedman(predict, codes, weight):
    """H of all pairs, and of each feature against the rest, from partial dependences at the rows.

    They are centred, as Friedman and Popescu have them.
    """
    p = codes.shape[1]

    def centred(*features):
        values = dependence_at(predict, codes, codes, weight, features)
        return values - np.sum(weight * values)

    def ratio(mixed, whole):
        size = np.sum(weight * whole**2)
        return math.sqrt(np.sum(weight * mixed**2) / size) if size > 0 else 0.0

    single = [centred(j) for j in range(p)]
    whole = centred(*range(p))
    h, h_total = np.zeros((p, p)), np.zeros(p)
    for j in range(p):
        rest = centred(*(k for k in range(p) if k != j))
        h_total[j] = ratio(whole - single[j] - rest, whole)
        for k in range(j + 1, p):
            pair = centred(j, k)
            h[j, k] = h[k, j] = ratio(pair - single[j] - single[k], pair)
    return h, h_total


def factor(branch, bins, j, code):
    """a_j in one bin of one product."""
    flat = int(bins.offset[j]) + int(code)
    negative = branch.negative is not None and branch.negative[flat]
    return -math.exp(branch.log_factors[flat]) if negative else math.exp(branch.log_factors[flat])


def backbone_and_tilt(stage, bins, j, code):
    """b_j and d_j at one bin; of a lone product its factor and zero, of none one and zero."""
    active = [b for b in (stage.plus, stage.minus) if b is not None and b.coefficient_sign != 0]
    factors = [factor(branch, bins, j, code) for branch in active]
    if len(factors) < 2:
        return (factors[0] if factors else 1.0), 0.0
    return math.sqrt(factors[0] * factors[1]), 0.5 * math.log(factors[0] / factors[1])


def variance(values, weight):
    mean = np.sum(weight * values) / np.sum(weight)
    return np.sum(weight * (values - mean) ** 2) / np.sum(weight)


def importance(model, codes, weight):
    """Variances of b_j and d_j over the rows, and the stage weights: the paper's definition."""
    bins, p = model.bins, codes.shape[1]
    curves = np.array(
        [
            [[backbone_and_tilt(stage, bins, j, code) for code in codes[:, j]] for j in range(p)]
            for stage in model.stages
        ]
    )  # (stage, feature, row, part)
    variances = [
        [[variance(curves[s, j, :, part], weight) for j in range(p)] for s in range(len(curves))]
        for part in (0, 1)
    ]
    squares = [np.sum(weight * value**2) for value in model.contributions(codes).T]
    whole = np.sum(squares) + np.sum(weight * main_effects(model, codes).sum(axis=1) ** 2)
    return np.array(variances[0]), np.array(variances[1]), np.array(squares) / whole


def main_effects(model, codes):
    """g_j of every feature at every row, one by one; zeros for a model without."""
    out = np.zeros(codes.shape)
    for i, row in enumerate(codes):
        for j, code in enumerate(row):
            if model.effects is not None:
                out[i, j] = model.effects[int(model.bins.offset[j]) + int(code)]
    return out


def stage_at(stage, bins, row):
    """lambda_plus prod a_plus and lambda_minus prod a_minus of one stage at one row."""
    out = []
    for branch, sign in ((stage.plus, 1.0), (stage.minus, -1.0)):
        value = 0.0 if branch is None else sign * branch.coefficient
        for j, code in enumerate(row):
            value *= 1.0 if branch is None else factor(branch, bins, j, code)
        out.append(value)
    return out


def band(values, level):
    """The ends of the central share of replicates, in every entry."""
    return np.stack(
        [np.quantile(values, end, axis=0) for end in ((1 - level) / 2, (1 + level) / 2)]
    )
