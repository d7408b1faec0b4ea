import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.kernels import sorting
from tests.compiled import as_kernel

pytestmark = pytest.mark.interpreted

first_at_least = as_kernel(sorting.first_at_least)
sort_by_key = as_kernel(sorting.sort_by_key)

numbers = st.lists(st.integers(-20, 20).map(float), max_size=60)


@given(numbers)
def test_items_follow_their_keys(values):
    keys, items = np.array(values), np.arange(len(values))
    sort_by_key(keys, items)
    assert keys.tolist() == sorted(values)
    assert [values[k] for k in items] == sorted(values)
    assert sorted(items) == list(range(len(values)))


@given(numbers, st.floats(-25, 25))
def test_first_at_least(values, value):
    ascending = np.sort(np.array(values))
    expected = sum(1 for v in values if v < value)
    assert first_at_least(ascending, value) == expected
