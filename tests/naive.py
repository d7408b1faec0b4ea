"""The oracle: the paper's algorithms written plainly, one line of the paper after the other.

Nothing here is fast and nothing is shared with the package, except the tuples that kernels take.
Rows are Python loops, sums are taken from scratch, least squares is solved on the full matrix.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import nnls


def edges_rule(edges, value):
    """Bin of a value: the number of edges at or below it."""
    return sum(1 for edge in edges if edge <= value)


def product(codes, factors):
    """prod_j m_j(x_j) for every row; factors is a list of arrays, one per axis."""
    return np.array([math.prod(f[c] for f, c in zip(factors, row, strict=True)) for row in codes])


def huber(weight, residual, threshold):
    return weight * min(1.0, threshold / abs(residual)) if residual != 0 else weight


def clamp(v, v_min, v_max, signed=False):
    if signed and v < 0:
        return -clamp(-v, v_min, v_max)
    return max(v_min, min(v_max, v))


def local_loss(rows, u_plus, u_minus, ridge):
    """The regularised loss of a region; rows are (w, m+, m-, r)."""
    fit = sum(w * (r - (u_plus * plus - u_minus * minus)) ** 2 for w, plus, minus, r in rows)
    return fit + ridge * (u_plus**2 + u_minus**2)


def solve_two_tensor(rows, rules):
    """Multipliers of a region and the error reduction at the clamped update, from its rows."""
    rows = np.asarray(rows, dtype=float).reshape(-1, 4)
    w, plus, minus, r = rows.T
    design = np.stack([plus, -minus], axis=1)
    system = design.T @ (w[:, None] * design) + rules.ridge * np.eye(2)
    u = np.linalg.solve(system, design.T @ (w * r))
    v = [clamp(1 + value, rules.v_min, rules.v_max, rules.signed) for value in u]
    gain = local_loss(rows, 0.0, 0.0, rules.ridge)
    gain -= local_loss(rows, v[0] - 1, v[1] - 1, rules.ridge)
    return v[0], v[1], gain


def bootstrap_counts(draws, n_draws, weight):
    """How often each row is drawn when draw k takes the k-th of n_draws slices of the weight."""
    counts, total = [0] * len(weight), sum(weight)
    for k in draws:
        at, row = (k + 2**0.5 - 1) * total / n_draws, 0
        while row < len(weight) - 1 and sum(weight[: row + 1]) < at:
            row += 1
        counts[row] += 1
    return counts


class Grid:
    """A grid tensor: groups of bins and values per axis, everything recomputed when asked.

    An axis is a list of groups, each a list of bins. On an ordered axis groups are intervals and
    the last bin, that of missing values, is a group of its own.
    """

    def __init__(self, problem, rules):
        self.codes, self.n_bins, self.outer = problem.codes, problem.n_bins, problem.residual
        self.rules, self.categorical = rules, problem.categorical
        self.weight, self.count = problem.unit * problem.count, problem.count
        self.groups = [
            [list(range(b))] if categorical else [list(range(b - 1)), [b - 1]]
            for b, categorical in zip(self.n_bins, self.categorical, strict=True)
        ]
        self.plus = [np.ones(b) for b in self.n_bins]
        self.minus = [np.ones(b) for b in self.n_bins]
        self.lambda_plus, self.lambda_minus = self.initial_scalars()

    def initial_scalars(self):
        w = [
            huber(w, r, self.rules.threshold) for w, r in zip(self.weight, self.outer, strict=True)
        ]
        if self.rules.signed:
            return math.sqrt(np.average(self.outer**2, weights=w)), 0.0
        plus = np.average(np.maximum(self.outer, 0), weights=w)
        minus = (
            np.average(np.maximum(-self.outer, 0), weights=w) if self.rules.two_branches else 0.0
        )
        return plus, minus

    def rows(self):
        """(w, lambda+ m+, lambda- m-, r) of every row of the bag, by ComputePredictions."""
        plus = self.lambda_plus * product(self.codes, self.plus)
        minus = self.lambda_minus * product(self.codes, self.minus)
        r = self.outer - plus + minus
        w = [huber(w, e, self.rules.threshold) for w, e in zip(self.weight, r, strict=True)]
        return np.stack([w, plus, minus, r], axis=1)

    def sums(self):
        """Of w P+^2, w P+ r, w P-^2, w P+ P-, w P- r and of counts: every bin of every axis."""
        out = [np.zeros((b, 6)) for b in self.n_bins]
        for i, (w, plus, minus, r) in enumerate(self.rows()):
            stats = [w * plus**2, w * r * plus, w * minus**2, w * plus * minus, w * r * minus]
            for j, code in enumerate(self.codes[i]):
                out[j][code] += [*stats, self.count[i]]
        return np.concatenate(out)

    def region(self, axis, bins):
        inside = np.isin(self.codes[:, axis], list(bins)) & (self.count > 0)
        return self.rows()[inside], self.count[inside].sum()

    def gain(self, axis, left, right):
        parts = (self.region(axis, left)[0], self.region(axis, right)[0])
        return sum(solve_two_tensor(rows, self.rules)[2] for rows in parts)

    def push(self, axis, bin_):
        """The tilt that a level's rows ask for: what levels of a group are ordered by."""
        w, plus, minus, r = self.region(axis, [bin_])[0].T
        moved = np.sum(w * (plus + minus) ** 2)
        return np.sum(w * r * (plus + minus)) / moved if moved > 0 else 0.0

    def candidates(self, axis):
        """Every valid split and every resplit, as (left bins, right bins)."""
        found = []
        for group in self.groups[axis]:
            ordered = group
            if self.categorical[axis]:
                ordered = sorted(group, key=lambda b: self.push(axis, b))
            for cut in range(1, len(ordered)):
                sides = ordered[:cut], ordered[cut:]
                counts = [self.region(axis, side)[1] for side in sides]
                if min(counts) >= self.rules.min_interval_samples:
                    found.append(sides)
        for left, right in itertools.pairwise(self.groups[axis]):
            if min(self.region(axis, left)[1], self.region(axis, right)[1]) > 0:
                found.append((left, right))
        return found

    def best_gain(self):
        axes = range(len(self.n_bins))
        gains = [self.gain(j, *action) for j in axes for action in self.candidates(j)]
        return max(gains, default=0.0)

    def apply(self, axis, left, right):
        solutions = [solve_two_tensor(self.region(axis, s)[0], self.rules) for s in (left, right)]
        for (v_plus, v_minus, _), side in zip(solutions, (left, right), strict=True):
            self.plus[axis][list(side)] *= v_plus
            self.minus[axis][list(side)] *= v_minus
        groups = []
        for group in self.groups[axis]:
            is_split = set(group) == set(left) | set(right)
            groups += [list(left), list(right)] if is_split else [group]
        self.groups[axis] = groups

    def refitted_scalars(self):
        """lambda+ and lambda- after the least-squares projection at the end of Algorithm 1."""
        v_plus, v_minus, _ = solve_two_tensor(self.rows()[self.count > 0], self.rules)
        return self.lambda_plus * v_plus, self.lambda_minus * v_minus


def centre(codes, weight, factors, scalar):
    """Divide every factor by its weighted geometric mean on the data; multiply the scalar by it."""
    out = []
    for j, factor in enumerate(factors):
        logs = np.log(factor)
        mean = np.average(logs[codes[:, j]], weights=weight)
        out.append(np.exp(logs - mean))
        scalar *= math.exp(mean)
    return out, scalar


def cosine(a, b, weight):
    norm_a, norm_b = math.sqrt(np.sum(weight * a * a)), math.sqrt(np.sum(weight * b * b))
    if norm_a == 0 or norm_b == 0:
        return 1.0 if norm_a == norm_b else 0.0
    return np.sum(weight * a * b) / (norm_a * norm_b)


def centroid_scores(codes, weight, bags):
    """Steps 3 and 4 of Algorithm 12: the anchor is closest to the lambda centroid."""
    distance = [sum((a[2] - b[2]) ** 2 + (a[3] - b[3]) ** 2 for b in bags) for a in bags]
    anchor = bags[int(np.argmin(distance))]

    def summaries(bag):
        plus, minus = product(codes, bag[0]), product(codes, bag[1])
        return np.sqrt(plus * minus), 0.5 * np.log(plus / minus)

    anchor_b, anchor_d = summaries(anchor)
    scores = []
    for bag in bags:
        b, d = summaries(bag)
        scores.append((cosine(anchor_b, b, weight) + 1) * (cosine(anchor_d, d, weight) + 1) / 4)
    return scores


def medoid_scores(codes, weight, bags):
    """Minus the distance to the medoid: log-curves compared row by row, axis by axis."""

    def distance(a, b):
        total = 0.0
        for side in (0, 1):
            for j in range(codes.shape[1]):
                gap = np.log(a[side][j]) - np.log(b[side][j])
                total += np.average(gap[codes[:, j]] ** 2, weights=weight)
        return math.sqrt(total)

    medoid = min(bags, key=lambda a: sum(distance(a, b) for b in bags))
    return [-distance(medoid, bag) for bag in bags]


def combine(codes, weight, bags, trim, anchor):
    """Algorithm 12 for two-branch bags [(plus factors, minus factors, lambda+, lambda-), ...].

    Returns the averaged + and - factors, the sorted numbers of the bags kept, and the scores.
    """
    score = centroid_scores if anchor == "centroid" else medoid_scores
    scores = score(codes, weight, bags)
    keep = math.ceil(round((1 - trim) * len(bags), 9))
    kept = sorted(sorted(range(len(bags)), key=lambda c: -scores[c])[: max(1, keep)])
    axes = range(len(bags[0][0]))
    averages = [
        [np.exp(np.mean([np.log(bags[c][side][j]) for c in kept], axis=0)) for j in axes]
        for side in (0, 1)
    ]
    return averages[0], averages[1], kept, scores


def backfit(columns, target, weight, scalars, fit_intercept):
    """Fitted values of the joint refit: weighted least squares on the full design matrix.

    ``columns`` are the signed products; the coefficients are free for "ols", else non-negative.
    """
    root = np.sqrt(weight)
    design = np.stack(columns, axis=1)
    ones = np.ones((len(target), 1))
    if scalars == "ols":
        full = np.hstack([design, ones]) if fit_intercept else design
        coefficients = np.linalg.lstsq(root[:, None] * full, root * target, rcond=1e-7)[0]
        return full @ coefficients
    full = np.hstack([design, ones, -ones]) if fit_intercept else design
    coefficients, _ = nnls(root[:, None] * full, root * target, maxiter=10_000)
    return full @ coefficients


def predict(codes, intercept, stages, offset):
    """intercept + sum of stages; a stage is [(coefficient, flat factors), ...]."""
    out = []
    for row in codes:
        total = intercept
        for branches in stages:
            for coefficient, flat in branches:
                value = coefficient
                for j, code in enumerate(row):
                    value *= flat[offset[j] + code]
                total += value
        out.append(total)
    return np.array(out)


def difference_matrix(n_bins, n_ordered, order):
    """Rows of differences over the ordered bins of an axis; other bins have none."""
    if n_ordered <= order:
        return np.zeros((0, n_bins))
    return np.diff(np.eye(n_bins)[:n_ordered], n=order, axis=0)


def penalty_matrices(n_bins, n_ordered):
    """S_c of first differences, size and second differences; None where a curve has none."""
    first, second = (difference_matrix(n_bins, n_ordered, order) for order in (1, 2))
    return [
        first.T @ first if n_ordered > 1 else None,
        np.eye(n_bins),
        second.T @ second if n_ordered >= 20 else None,
    ]


def curvatures(plus, minus, weight):
    """Total curvature along the backbone and the tilt; the backbone's has a floor."""
    uu, vv = np.sum(weight * (plus - minus) ** 2), np.sum(weight * (plus + minus) ** 2)
    return max(uu, 1e-3 * vv), vv


def penalty(mu, curvature, n_bins, n_ordered):
    """S = sum_c mu_c S_c and a little more on the size, in units of the curvature."""
    matrices = penalty_matrices(n_bins, n_ordered)
    total = 1e-4 / n_bins * curvature * np.eye(n_bins)
    for strength, matrix in zip(mu, matrices, strict=True):
        if matrix is not None:
            total = total + strength * curvature * matrix
    return total


def apply_factors(codes, factors, products, residual):
    """Products (2, n) times the factors (2, bins) of their bins, and what that leaves of r."""
    plus, minus = products * factors[:, codes]
    before = products[0] - products[1]
    return np.array([plus, minus]), residual - ((plus - minus) - before)


def five_sums(codes, products, residual, weight, n_bins):
    """Sums of w P+^2, w P+ r, w P-^2, w P+ P- and w P- r over the rows of a bin, in 8 columns."""
    plus, minus = products
    terms = [plus * plus, plus * residual, minus * minus, plus * minus, minus * residual]
    sums = np.zeros((n_bins, 8))
    for b in range(n_bins):
        rows = codes == b
        sums[b, :5] = [np.sum((weight * term)[rows]) for term in terms]
    return sums


def block_system(codes, plus, minus, residual, weight, curve, mu, n_bins, n_ordered, energy):
    """Gauss-Newton of the penalised loss in (beta of all bins, delta of all bins), dense."""
    onehot = np.eye(n_bins)[codes]
    design = np.hstack([(plus - minus)[:, None] * onehot, (plus + minus)[:, None] * onehot])
    strengths = curvatures(plus, minus, weight)
    S = np.zeros((2 * n_bins, 2 * n_bins))
    for side in range(2):
        part = slice(side * n_bins, (side + 1) * n_bins)
        S[part, part] = penalty(mu[side], strengths[side], n_bins, n_ordered)
    e_plus = energy * onehot.T @ (weight * plus**2)
    e_minus = energy * onehot.T @ (weight * minus**2)
    H = np.block(
        [
            [np.diag(2 * (e_plus + e_minus)), np.diag(2 * (e_plus - e_minus))],
            [np.diag(2 * (e_plus - e_minus)), np.diag(2 * (e_plus + e_minus))],
        ]
    )
    A = design.T @ (weight[:, None] * design) + S + H
    pull = np.concatenate([e_plus + e_minus, e_plus - e_minus])
    right = design.T @ (weight * residual) - S @ curve - pull
    return A, S, right


def block_objective(codes, plus, minus, residual, weight, curve, S, step, energy):
    """Half the penalised loss after a step, from the rows themselves."""
    n_bins = len(curve) // 2
    beta, delta = step[:n_bins][codes], step[n_bins:][codes]
    new_plus, new_minus = plus * np.exp(beta + delta), minus * np.exp(beta - delta)
    new = residual - (new_plus - plus) + (new_minus - minus)
    size = energy * np.sum(weight * (new_plus**2 + new_minus**2))
    end = curve + step
    return 0.5 * (np.sum(weight * new**2) + size + end @ S @ end)


def learned_penalties(A, S, curve, mu, side, curvature, noise, n_bins, n_ordered, rate=1.0):
    """Generalised Fellner-Schall, dense: new mu and the degrees of freedom of one curve.

    ``rate`` is the share of the change of log mu that is made.
    """
    part = slice(side * n_bins, (side + 1) * n_bins)
    theta = curve[part]
    prior, posterior = np.linalg.inv(S[part, part]), np.linalg.inv(A)[part, part]
    new, freedom = list(mu[side]), 0.0
    for c, matrix in enumerate(penalty_matrices(n_bins, n_ordered)):
        if matrix is None:
            continue
        t = mu[side][c] * curvature * (np.trace(prior @ matrix) - np.trace(posterior @ matrix))
        t = max(t, 1e-4)
        goal = noise * t / max(theta @ matrix @ theta, 1e-12) / curvature
        change = np.clip((goal / mu[side][c]) ** rate, 0.1, 10.0)
        new[c] = np.clip(mu[side][c] * change, 1e-9, (1e3, 1e5, 1e7)[c])
        freedom += t
    if n_ordered >= 20:  # neighbours are tied at least as far as a fiftieth of the axis
        new[0] = np.clip(new[0], (n_ordered / 50) ** 2 * new[1], 1e3)
    return new, freedom


def softmax(sums):
    """Probabilities of the classes from their sums, (n, K)."""
    sizes = [[math.exp(value - max(row)) for value in row] for row in sums]
    return np.array([[size / math.fsum(row) for size in row] for row in sizes])


def certainty(sums, target, weight, offset):
    """The factor on log-odds, row by row: thirds of the log-loss, slopes by differences."""
    two = sums.ndim == 1

    def losses(factor):
        eta = factor * sums
        eta = np.column_stack([np.zeros(len(sums)), eta + offset]) if two else eta
        shares = softmax(eta)
        return np.array([-np.log(row[int(k)]) for row, k in zip(shares, target, strict=True)])

    low, high = 0.5, 2.0
    for _ in range(30):  # the loss is convex: the third that cannot have its least is left out
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if weight @ losses(a) < weight @ losses(b) else (a, high)
    found = 0.5 * (low + high)
    step = 1e-4
    less, here, more = (losses(found + d) for d in (-step, 0.0, step))
    first, second = (more - less) / (2 * step), (more - 2 * here + less) / step**2
    shown, expected = np.sqrt(weight @ first**2) / (weight @ second), (weight @ second) ** -0.5
    error = max(shown, expected)
    return 1.0 + max(1.0 - (error / (found - 1.0)) ** 2, 0.0) * (found - 1.0)


def softmax_fit(design, classes, weight, penalties, n_steps=50):
    """Coefficients (columns, K) of penalised softmax regression: Newton with the dense Hessian.

    The loss is minus the log of the probability of what happened plus half of b' S b of every
    class with its own S; its Hessian has the blocks X' W (delta_kj p_k - p_k p_j) X.
    """
    n_columns, n_classes = design.shape[1], max(classes) + 1
    happened = np.eye(n_classes)[classes]
    coefficients = np.zeros((n_columns, n_classes))
    for _ in range(n_steps):
        shares = softmax(design @ coefficients)
        slope = design.T @ (weight[:, None] * (shares - happened))
        for k, penalty in enumerate(penalties):
            slope[:, k] += penalty @ coefficients[:, k]
        hessian = np.zeros((n_classes, n_columns, n_classes, n_columns))
        for k, j in itertools.product(range(n_classes), repeat=2):
            bend = weight * shares[:, k] * ((k == j) - shares[:, j])
            hessian[k, :, j, :] = design.T @ (bend[:, None] * design) + (k == j) * penalties[k]
        size = n_classes * n_columns
        step = np.linalg.lstsq(hessian.reshape(size, size), slope.T.ravel(), rcond=None)[0]
        coefficients -= step.reshape(n_classes, n_columns).T
    return coefficients
