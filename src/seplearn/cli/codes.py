"""Whole numbers that may be names of something, such as ZIP codes, and not amounts."""

from __future__ import annotations

import re
import shlex
from typing import Any

import numpy as np
import pyarrow as pa

from seplearn.cli.text import note

_CODE_NAME = re.compile(
    r"(?:^|[^a-z])(?:id|ids|key|code|codes|uuid|identifier|zip|zipcode|postcode|postal|plz|sku)"
    r"(?:$|[^a-z])"
)
_FEW_ROWS = 20


def remark_on_codes(name: str, column: pa.ChunkedArray, zeros: str = "") -> None:
    """Say of whole numbers that look like names of something that they are taken as numbers."""
    if zeros:
        why: str | None = f"some begin with a zero ({zeros})"
    else:
        why = _why_codes(name, np.asarray(column.drop_null()))
    if why:
        option = shlex.quote(name)
        note(
            f"column {name!r} is taken as numbers, but {why}: --categorical {option} makes its "
            f"values levels, --exclude {option} leaves it out"
        )


def _why_codes(name: str, values: np.ndarray[Any, Any]) -> str | None:
    if len(values) < _FEW_ROWS or not np.isfinite(values).all() or (values % 1).any():
        return None
    distinct = np.unique(values)
    steps = np.diff(distinct)
    if len(distinct) == len(values) and (steps == 1).all():
        return "it counts the rows"
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower().replace("_", " ")
    if len(distinct) > 2 and _CODE_NAME.search(words):
        return "its name is that of a code"
    digits = {len(str(int(abs(value)))) for value in distinct}
    same_length = len(digits) == 1 and min(digits) >= 5 and distinct[0] > 0
    if same_length and 2 * len(distinct) <= len(values) and len(distinct) >= 10:
        step = np.gcd.reduce(steps.astype(np.int64)) if distinct[-1] < 2**53 else 1
        if step == 1:
            return f"whole numbers of {digits.pop()} digits that come again may be codes"
    return None
