"""Where a model comes from: what a file says of its fit beside parameters and curves."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from seplearn._errors import out_of_range
from seplearn.model.checks import count, finite, flag, require, table

_PACKAGES = ("seplearn", "numpy", "numba", "scipy", "scikit-learn")
_EPOCH = "SOURCE_DATE_EPOCH"
_LONGEST = 200  # of a version or a date
_HASH = re.compile(r"[0-9a-f]{64}")


@cache
def _version(name: str) -> str:
    """That of a package, looked up once: its metadata are parsed for it."""
    return version(name)


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from.

    Two fits of the same rows in the same environment have the same, so that files stay the same:
    the clock is not looked at.

    Attributes
    ----------
    n_rows : int
        Training rows with a positive weight.
    weight : float
        Sum of their weights.
    versions : mapping of str to str
        Of Python and the packages that the fit depends on.
    date : str or None
        What the environment variable SOURCE_DATE_EPOCH says, in ISO 8601, or what the caller gave.
    table_sha256 : str or None
        SHA-256 of the training table as a file, if it was asked for.
    excluded : tuple of str
        Columns of the table that were left out, if that is known.
    n_left_out : int or None
        Rows of the table that were left out because they had no outcome or no weight, if that is
        known.
    had_offsets : bool or None
        Whether rows had offsets, if that is known.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> model.provenance_.n_rows
    500
    >>> model.provenance_ = replace(model.provenance_, date="2026-11-16")  # saved with the model
    """

    n_rows: int
    weight: float
    versions: Mapping[str, str] = field(hash=False)
    date: str | None = None
    table_sha256: str | None = None
    excluded: tuple[str, ...] = ()
    n_left_out: int | None = None
    had_offsets: bool | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether rows of the fit did not count alike, or not once each."""
        return abs(self.weight - self.n_rows) > 1e-9 * self.n_rows

    @staticmethod
    def of_fit(n_rows: int, weight: float, had_offsets: bool) -> Provenance:
        """That of a fit made here and now."""
        versions = {"python": platform.python_version()}
        versions |= {name: _version(name) for name in _PACKAGES}
        date = date_of_environment()
        return Provenance(n_rows, weight, versions, date, had_offsets=had_offsets)

    def to_plain(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"versions": dict(self.versions), "excluded": list(self.excluded)}

    @staticmethod
    def from_plain(values: Any) -> Provenance:
        """What :meth:`to_plain` gave, every value checked."""
        require(isinstance(values, dict), "the provenance must be a table")
        names = {one.name for one in fields(Provenance)}
        given = table({"had_offsets": None} | values, names, "the provenance")
        versions, excluded = given["versions"], given["excluded"]
        sound = isinstance(versions, dict) and all(_is_short(text) for text in versions.values())
        require(sound, "versions of the provenance")
        listed = isinstance(excluded, list) and all(type(name) is str for name in excluded)
        require(listed, "columns left out")
        require(given["date"] is None or _is_short(given["date"]), "date of the provenance")
        digest = given["table_sha256"]
        known = digest is None or (type(digest) is str and _HASH.fullmatch(digest) is not None)
        require(known, "hash of the training table")
        weight = finite(given["weight"])
        require(weight >= 0.0, "weight of the training rows")
        n_rows, left_out = count(given["n_rows"]), given["n_left_out"]
        n_left_out = None if left_out is None else count(left_out)
        had_offsets = None if given["had_offsets"] is None else flag(given["had_offsets"])
        return Provenance(
            n_rows, weight, versions, given["date"], digest, tuple(excluded), n_left_out,
            had_offsets,
        )  # fmt: skip


def date_of_environment() -> str | None:
    """The date that SOURCE_DATE_EPOCH says, as builds that can be repeated do; None without it."""
    text = os.environ.get(_EPOCH)
    if not text:
        return None
    try:
        return datetime.fromtimestamp(int(text), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError) as error:
        rule = "seconds since 1970 in the environment"
        raise out_of_range(_EPOCH, rule, text) from error


def _is_short(text: Any) -> bool:
    return type(text) is str and 0 < len(text) <= _LONGEST
