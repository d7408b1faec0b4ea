"""Monotone constraints: whether a prediction may rise or fall with a feature."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from seplearn._errors import did_you_mean, out_of_range
from seplearn.kernels.arrays import BoolArray
from seplearn.table.columns import Table
from seplearn.table.schema import Schema

_WORDS = "1 (increasing), -1 (decreasing) or 0 (free)"


def feature_directions(table: Table, chosen: Any, categorical: BoolArray) -> tuple[int, ...]:
    """1, -1 or 0 for every column, from the parameter ``monotonic_cst``."""
    directions = [0] * table.n_columns
    if chosen is None:
        return tuple(directions)
    if isinstance(chosen, Mapping):
        schema = Schema.of(table)
        own: dict[int, int] = {}
        for name, value in chosen.items():
            place, direction = _place(name, schema), _direction(value)
            if own.setdefault(place, direction) != direction:
                rule = f"one direction for {table.label(place)}"
                raise out_of_range("monotonic_cst", rule, chosen)
            directions[place] = direction
    else:
        values = list(chosen)
        if len(values) != table.n_columns:
            rule = f"as long as there are features ({table.n_columns}) when it is not a dict"
            raise out_of_range("monotonic_cst", rule, values)
        directions = [_direction(value) for value in values]
    for j in np.flatnonzero(categorical):
        if directions[j] != 0:
            raise out_of_range(
                "monotonic_cst", f"0 for {table.label(int(j))}, which holds levels", directions[j]
            )
    return tuple(directions)


def _place(name: Any, schema: Schema) -> int:
    """Which column is meant, by its name or its number."""
    place = schema.place_of(name)
    if place is None:
        hint = did_you_mean(name, schema.labels)
        raise out_of_range("monotonic_cst", f"for columns among {list(schema.labels)}{hint}", name)
    return place


def _direction(value: Any) -> int:
    whole = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not whole or value not in (-1, 0, 1):
        raise out_of_range("monotonic_cst", _WORDS, value)
    return int(value)
