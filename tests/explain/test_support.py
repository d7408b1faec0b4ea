"""Which pairs of bins have rows near them: where surfaces are not faded."""

import numpy as np
import pytest

from seplearn import TSLRegressor
from seplearn.explain.products import support
from tests.explained import every_case


def near(bins, j, one, other):
    """Whether two bins are near each other, straight from the definition."""
    if one == other:
        return True
    n = int(bins.n_ordered[j])
    if bins.is_categorical[j] or one >= n or other >= n:
        return False
    f = bins.frequencies[bins.axis(j)][:n] / bins.frequencies[bins.axis(j)][:n].sum()
    values = bins.axes[j].describe().values
    low, high = sorted((one, other))
    between = f[low] / 2 + f[low + 1 : high].sum() + f[high] / 2
    middles = [f[:b].sum() + f[b] / 2 for b in range(n)]
    lowest, highest = np.interp([0.0025, 0.9975], middles, values[:n])
    apart = abs(values[one] - values[other])
    return between <= 1 / 16 + 1e-12 and apart <= 0.1 * (highest - lowest) * (1 + 1e-12)


@every_case
def test_pairs_are_supported_by_rows_near_both_values(make):
    case = make()
    bins, rows = case.model.bins, case.model.reference
    if rows is None:
        return
    for features in ((0, 1), (2, 0)):
        first, second = features
        expected = np.zeros([bins.axes[j].n_bins for j in features], dtype=bool)
        for a in range(expected.shape[0]):
            for b in range(expected.shape[1]):
                expected[a, b] = any(
                    near(bins, first, a, row[first]) and near(bins, second, b, row[second])
                    for row in rows.codes.astype(int)
                )
        assert support(bins, rows, features).tolist() == expected.tolist()


@pytest.mark.parametrize("skewed", [False, True])
def test_no_cell_far_from_rows_is_supported_and_few_amid_them_are_not(skewed):
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 2))
    X = np.exp(X) if skewed else X
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, X[:, 0] * X[:, 1]).model_
    seen = support(model.bins, model.reference, (0, 1))
    values = [axis.describe().values[:-1] for axis in model.bins.axes]
    spans = [np.quantile(X[:, j], 0.9975) - np.quantile(X[:, j], 0.0025) for j in range(2)]
    for a, b in np.argwhere(seen[:-1, :-1])[::37]:
        apart = np.abs(X - [values[0][a], values[1][b]]) / spans
        assert (apart.max(axis=1) < 0.15).any()
    inside = [np.searchsorted(v, np.quantile(X[:, j], [0.2, 0.8])) for j, v in enumerate(values)]
    (low, high), (left, right) = inside
    assert seen[low:high, left:right].mean() > 0.97
