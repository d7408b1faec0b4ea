"""Which columns a model was fitted on, and where they are in another table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from seplearn._errors import did_you_mean, out_of_range, warn
from seplearn.kernels.arrays import BoolArray
from seplearn.table.columns import Table

_SHOWN_LABELS = 10


class OffsetColumn(NamedTuple):
    """The column of a table that offsets come from: as they are, or as the logs of an exposure."""

    name: str
    is_exposure: bool

    @property
    def argument(self) -> str:
        """What such a column is called where columns are named."""
        return "exposure" if self.is_exposure else "offset"


@dataclass(frozen=True)
class Schema:
    """The features seen by ``fit``: how many, their names if they had any, and the library.

    Attributes
    ----------
    library : str or None
        The data frame library of the training table, in which explanations answer.
    target : str or None
        The name of the target, if it came with one.
    integer_labels : tuple of int or None
        The labels of the columns of a frame that numbers them instead of naming them.
    offset : OffsetColumn or None
        Where offsets come from, if they came from a column with a name.
    missing_texts : tuple of str
        Texts that stand for missing values in files of tables, such as -999.
    """

    n_features: int
    names: tuple[str, ...] | None
    library: str | None = None
    target: str | None = None
    integer_labels: tuple[int, ...] | None = None
    offset: OffsetColumn | None = None
    missing_texts: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names; where there are none x0, x1, ... as scikit-learn counts them."""
        return self.names or tuple(f"x{j}" for j in range(self.n_features))

    def place_of(self, key: Any) -> int | None:
        """Which feature a name, or a number where columns are numbered or counted, stands for."""
        own = self.integer_labels or tuple(range(self.n_features))
        is_whole = isinstance(key, (int, np.integer)) and not isinstance(key, bool)
        if is_whole and key in own:
            return own.index(key)
        return self.labels.index(key) if key in self.labels else None

    def keys_beside(self, other: Schema) -> tuple[Hashable, ...]:
        """What tells the columns apart and can be compared with the keys of another schema.

        Names; without names on either side the numbers that frames give their columns. Where the
        other side has none of these either it is their places, unless the numbers do not ascend:
        an array has the columns of such a frame in another order more likely than not.
        """
        if self.names is not None or other.names is not None:
            return self.labels
        places = tuple(range(self.n_features))
        numbers = self.integer_labels
        if numbers is None or (other.integer_labels is None and list(numbers) == sorted(numbers)):
            return places
        return numbers

    @staticmethod
    def of(table: Table, target: str | None = None) -> Schema:
        """The schema of a training table; its names must be distinct."""
        if table.names is not None and len(set(table.names)) < len(table.names):
            twice = [name for name, count in Counter(table.names).items() if count > 1]
            raise ValueError(f"names of columns must be distinct, got more than one of {twice}")
        return Schema(table.n_columns, table.names, table.library, target, table.integer_labels)

    def columns_in(self, table: Table, estimator: str) -> list[int]:
        """Where the features are in ``table``: by name if both have names, else by position.

        Columns with other names are ignored, as a table often has more: an identifier, the target.
        Columns that are numbered, not named, are found by their number if all of them are there; of
        those that are only counted, 0, 1, 2, ..., none may be too many.
        """
        places = self.places_in(table, estimator)
        if self.names is not None and table.names is None:
            warn(
                f"X does not have valid feature names, but {estimator} was fitted with feature "
                "names; columns are taken in the order of fit"
            )
        elif (
            self.integer_labels is not None
            and table.integer_labels is not None
            and not self._has_all_numbers(table)
        ):
            warn(
                f"the columns of X are numbered {_shortened(table.integer_labels)}, but "
                f"{estimator} was fitted with {_shortened(self.integer_labels)}; they are taken in "
                "the order of fit"
            )
        return places

    def places_in(self, table: Table, estimator: str) -> list[int]:
        """As :meth:`columns_in`, of a table that was looked at before: without its warnings."""
        if self.names is not None and table.names is not None:
            return _found(self.names, table.names)
        is_counted = self.integer_labels == tuple(range(self.n_features))
        has_all = self._has_all_numbers(table)
        if table.n_columns != self.n_features and (is_counted or not has_all):
            raise ValueError(
                f"X has {table.n_columns} features, but {estimator} is expecting "
                f"{self.n_features} features as input"
            )
        if has_all:
            return _found(self.integer_labels or (), table.integer_labels or ())
        return list(range(self.n_features))

    def _has_all_numbers(self, table: Table) -> bool:
        """Whether both are numbered, and the table has a column of every number."""
        own, given = self.integer_labels, table.integer_labels
        return own is not None and given is not None and set(own) <= set(given)


def _found(wanted: Sequence[Hashable], names: Sequence[Hashable]) -> list[int]:
    """The place of every wanted name; others are ignored, unless one is missing or there twice."""
    place = {name: j for j, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        known = set(wanted)
        unknown = [name for name in names if name not in known]
        parts = [f"missing {missing}"] + [f"unknown {unknown}"] * bool(unknown)
        raise ValueError(f"X must have the columns seen by fit; {' and '.join(parts)}")
    if len(place) != len(names):
        raise ValueError(f"names of columns must be distinct, got {list(names)}")
    return [place[name] for name in wanted]


def _shortened(labels: tuple[int, ...] | None) -> str:
    shown = list(labels or ())
    return str(shown) if len(shown) <= _SHOWN_LABELS else f"{shown[:_SHOWN_LABELS]} ..."


def categorical_columns(table: Table, chosen: Any) -> BoolArray:
    """Which columns hold levels, from the parameter ``categorical_features``."""
    by_type = np.array([table.is_categorical(j) for j in range(table.n_columns)])
    if chosen is None:
        for j in np.flatnonzero(by_type):
            table.numbers(int(j))  # raises, naming the column and the value
        return np.zeros_like(by_type)
    if isinstance(chosen, str):
        return by_type
    listed: BoolArray = by_type.copy()
    items = list(chosen)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != table.n_columns:
            rule = f"as long as there are features ({table.n_columns}) when it holds booleans"
            raise out_of_range("categorical_features", rule, chosen)
        listed[np.array(items, dtype=bool)] = True
        return listed
    for item in items:
        listed[_position(item, table)] = True
    return listed


def _position(item: Any, table: Table) -> int:
    if isinstance(item, str):
        names = table.names or Schema.of(table).labels
        if item not in names:
            hint = did_you_mean(item, names)
            raise out_of_range(
                "categorical_features", f"among the columns {list(names)}{hint}", item
            )
        return names.index(item)
    if not 0 <= int(item) < table.n_columns:
        rule = f"positions below {table.n_columns}"
        raise out_of_range("categorical_features", rule, item)
    return int(item)
