"""Generated tables: the same every time, and what they say they are."""

import numpy as np

from seplearn import datasets


def test_invented_claims_are_deterministic_and_have_their_rate():
    first, again = (datasets.claims(3000, random_state=3) for _ in range(2))
    assert first.X.equals(again.X)
    np.testing.assert_array_equal(first.amount, again.amount)
    expected = float(first.exposure @ first.rate)
    assert abs(first.n_claims.sum() - expected) < 4.0 * np.sqrt(expected)
    assert (first.amount > 0).tolist() == (first.n_claims > 0).tolist()
    assert first.exposure.min() > 0
    assert first.exposure.max() == 1.0
