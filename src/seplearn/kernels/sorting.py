"""Sorting and searching by hand: numba's own versions take seconds to compile."""

from __future__ import annotations

from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.kernels.compiler import part


@part
def sort_by_key(keys: FloatArray, items: IntArray) -> None:
    """Sort ``keys`` ascending and bring ``items`` into the same order (Shell's sort, in place)."""
    n = keys.shape[0]
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            key, item = keys[i], items[i]
            j = i
            while j >= gap and keys[j - gap] > key:
                keys[j], items[j] = keys[j - gap], items[j - gap]
                j -= gap
            keys[j], items[j] = key, item
        gap = 1 if gap == 2 else int(gap / 2.2)


@part
def first_at_least(ascending: FloatArray, value: float) -> int:
    """The first position with a value >= ``value``; the length when there is none."""
    low, high = 0, ascending.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
