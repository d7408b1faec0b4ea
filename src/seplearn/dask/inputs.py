"""Dask collections as they are given: what they may be, and their partitions."""

from __future__ import annotations

from typing import Any

import dask.array as da

from seplearn._errors import wrong_type


def check_table(X: Any) -> None:
    """Raise for anything but a dask DataFrame or an Array of rows and columns."""
    if not isinstance(X, da.Array) and not hasattr(X, "to_delayed"):
        raise wrong_type("X", "a dask DataFrame or Array", X)
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got {X.ndim}")


def partitions_of(X: Any, columns: dict[str, Any]) -> dict[str, list[Any]]:
    """The partitions of a table, and those of what belongs to its rows, of which it has as many."""
    parts = {"X": _delayed("X", X, None)}
    chunks = X.chunks[0] if isinstance(X, da.Array) else None
    parts |= {name: _delayed(name, column, chunks) for name, column in columns.items()}
    n_parts = len(parts["X"])
    for name, own in parts.items():
        if len(own) != n_parts:
            raise ValueError(f"{name} must have the partitions of X ({n_parts}), got {len(own)}")
    return parts


def _delayed(name: str, given: Any, chunks: Any) -> list[Any]:
    """The partitions of a dask collection; arrays are cut along their rows only."""
    if isinstance(given, da.Array) and given.ndim > 0:
        if chunks is not None and given.shape[0] == sum(chunks):  # NaN where it is not known
            given = given.rechunk({0: chunks})
        whole = given.rechunk({1: -1}) if given.ndim == 2 else given
        return list(whole.to_delayed().ravel())
    if hasattr(given, "to_delayed") and hasattr(given, "npartitions"):
        # Optimised, a column by itself is read in fewer and larger partitions than the others.
        return list(given.to_delayed(optimize_graph=False))
    raise wrong_type(name, "a dask DataFrame, Series or Array", given)
