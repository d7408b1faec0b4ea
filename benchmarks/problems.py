"""Tables to measure on: a local folder, the CTR-23 suite of OpenML, and generated ones.

A problem is named by a word: ``california_housing`` is a file of the folder, ``openml:361255`` a
task of OpenML, ``made:rents`` a generated table, ``grown:1000x20`` one of that many rows and
features. Of these the mean is asked, except for some generated ones. A word before says another
task: ``classes:adult`` is a file of the folder of classes, ``counts:bike_sharing`` asks a table for
Poisson means, ``quantile-0.9:bike_sharing`` or ``quantile-0.9:made:rents`` for a quantile.
``distinct:red_wine`` is a table in which every row that repeats is taken once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import numpy as np
import pandas as pd

from benchmarks import data
from benchmarks.tasks import (
    CLASSES,
    COUNTS,
    QUANTILES,
    REGRESSION,
    Classes,
    Counts,
    Problem,
    Quantile,
)

_SUITE = 353  # CTR-23 among the studies of OpenML
_API = "https://www.openml.org/api/v1/json"

Table = tuple[pd.DataFrame, np.ndarray]
_COUNTED = ("solar_flare", "bike_sharing")
_LEVELS = (0.1, 0.5, 0.9)
_WITH_QUANTILES = ("abalone", "bike_sharing", "california_housing")
_QUANTILE = "quantile-"
DISTINCT = "distinct:"
_REPEATING = (
    "red_wine", "solar_flare", "brazilian_houses", "cps88wages", "health_insurance",
    "physiochemical_protein",
)  # fmt: skip


def names(folder: Path | None, kind: str = REGRESSION) -> list[str]:
    """All problems of a kind of task: tables of the folder, then the made ones.

    Without a folder, those of regression are the suite of OpenML.
    """
    made = [name for name in (f"made:{own}" for own in MADE) if kind_of(name) == kind]
    if kind == QUANTILES:
        own = [*_held(folder, _WITH_QUANTILES), "made:rents"]
        return [f"{_QUANTILE}{level}:{name}" for name in own for level in _LEVELS]
    if kind == COUNTS:
        return [f"counts:{name}" for name in _held(folder, _COUNTED)] + made
    if kind == CLASSES:
        return [f"classes:{name}" for name in _tables(folder, data.CLASS_TABLES)] + made
    if _tables(folder):
        repeating = [f"{DISTINCT}{name}" for name in _held(folder, _REPEATING)]
        return _tables(folder) + made + repeating
    tasks = _ask(f"study/{_SUITE}")["study"]["tasks"]["task_id"]
    return [f"openml:{task}" for task in tasks] + made


def _tables(folder: Path | None, tables: str = data.REGRESSION_TABLES) -> list[str]:
    """The names of the tables of a folder, smallest first; none where there is no folder."""
    if folder is None or not (folder / tables / "datasets.json").exists():
        return []
    return [entry["name"] for entry in data.datasets(folder, tables)]


def _held(folder: Path | None, wanted: tuple[str, ...]) -> list[str]:
    return [name for name in wanted if name in _tables(folder)]


def kind_of(name: str) -> str:
    """The kind of task that a problem is; its name says it."""
    kind, _, rest = name.partition(":")
    if kind == "made" and rest in MADE:
        return MADE[rest].kind
    if kind.startswith(_QUANTILE):
        return QUANTILES
    if f"{kind}:" == DISTINCT:
        return kind_of(rest)
    return kind if kind in (CLASSES, COUNTS) else REGRESSION


def check(name: str, folder: Path | None) -> None:
    """Raise, before any work, for a name that is no problem."""
    kind, _, rest = name.partition(":")
    if kind == "made" and rest not in MADE:
        raise ValueError(f"problem must be one of {sorted(MADE)} after 'made:', got {rest!r}")
    if kind == "grown" and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", rest):
        raise ValueError(f"problem must be like 'grown:1000x20', got {name!r}")
    if kind == "openml" and not rest.isdigit():
        raise ValueError(f"problem must be like 'openml:361255', got {name!r}")
    if kind in ("made", "grown", "openml"):
        return
    if f"{kind}:" == DISTINCT:
        check(rest, folder)
        return
    if kind == COUNTS or kind.startswith(_QUANTILE):
        _check_asked(name, folder)
        return
    of_classes = kind == CLASSES
    tables = data.CLASS_TABLES if of_classes else data.REGRESSION_TABLES
    listed = [f"{CLASSES}:{own}" if of_classes else own for own in _tables(folder, tables)]
    if not listed:
        raise ValueError(
            f"problem {name!r} needs --data-dir, the folder with {tables}/datasets.json"
        )
    if name not in listed:
        raise ValueError(f"problem must be one of {sorted(listed)}, got {name!r}")


def _check_asked(name: str, folder: Path | None) -> None:
    """Raise where a table of regression is asked for something else, and cannot be."""
    kind, _, rest = name.partition(":")
    # Between 0 and 1, and some digit is not 0.
    if kind != COUNTS and not re.fullmatch(_QUANTILE + r"0\.\d*[1-9]\d*", kind):
        raise ValueError(f"problem must be like 'quantile-0.9:bike_sharing', got {name!r}")
    if kind_of(rest) != REGRESSION:
        raise ValueError(f"problem after '{kind}:' must be one of regression, got {rest!r}")
    check(rest, folder)


def load(name: str, folder: Path | None) -> Problem:
    """A table with categorical columns of dtype ``category``, its target, and what is asked."""
    check(name, folder)
    kind, _, rest = name.partition(":")
    if kind == COUNTS:
        return _as_counts(load(rest, folder), name)
    if kind.startswith(_QUANTILE):
        return replace(load(rest, folder), task=Quantile(float(kind.removeprefix(_QUANTILE))))
    if f"{kind}:" == DISTINCT:
        return _distinct(load(rest, folder))
    if kind == "made":
        return MADE[rest].make()
    if kind == CLASSES:
        assert folder is not None
        X, y = data.load_classes(folder, _entry(folder, rest, data.CLASS_TABLES))
        return Problem(X, y, Classes(int(y.max()) + 1))
    return Problem(*_table(name, folder))


def _table(name: str, folder: Path | None) -> Table:
    """A table of regression that is not made."""
    kind, _, rest = name.partition(":")
    if kind == "grown":
        rows, _, features = rest.partition("x")
        return grown(int(rows), int(features))
    if kind == "openml":
        return _from_openml(int(rest))
    assert folder is not None
    return data.load_table(folder, _entry(folder, name, data.REGRESSION_TABLES))


def _entry(folder: Path, name: str, tables: str) -> dict[str, Any]:
    return {entry["name"]: entry for entry in data.datasets(folder, tables)}[name]


def _distinct(problem: Problem) -> Problem:
    """Rows that are alike in all features and the target once."""
    repeats = problem.X.assign(**{"the target": problem.y}).duplicated()
    return problem.rows(np.flatnonzero(~repeats))


def _as_counts(problem: Problem, name: str) -> Problem:
    y = problem.y
    if (y < 0).any() or (y != np.round(y)).any():
        raise ValueError(f"problem {name!r} must have a target of whole numbers from 0 on")
    return replace(problem, task=Counts())


def _from_openml(task: int) -> Table:
    """The table of an OpenML task; needs the network."""
    from sklearn.datasets import fetch_openml

    inputs = _ask(f"task/{task}")["task"]["input"]
    source = next(part["data_set"] for part in inputs if part["name"] == "source_data")
    found = fetch_openml(
        data_id=int(source["data_set_id"]), target_column=source["target_feature"], as_frame=True
    )
    X = found.data.copy()
    for column in X:
        if X[column].dtype.kind not in "iuf":
            X[column] = X[column].astype("category")
    return X, found.target.to_numpy(dtype=float)


def _ask(path: str) -> Any:
    """An answer of OpenML; needs the network."""
    with urlopen(f"{_API}/{path}", timeout=60) as answer:
        return json.load(answer)


def grown(n_rows: int, n_features: int, seed: int = 0) -> Table:
    """Normal features, four of which act, in two products; noise of variance one."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_features), dtype=np.float32)
    y = np.exp(0.5 * X[:, 0]) * (1 + X[:, 1] ** 2) - X[:, 2] * X[:, 3] + random.normal(size=n_rows)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(n_features)]), y


def _masked() -> Problem:
    from seplearn import datasets

    X, y = datasets.masked_interaction(5_000, random_state=0)
    return Problem(pd.DataFrame(X, columns=["x1", "x2", "x3"]), y)


def _rents() -> Problem:
    from seplearn import datasets

    X, y = datasets.rents(3_000, random_state=0)
    return Problem(X.assign(district=X["district"].astype("category")), y)


def _rents_in(parts: int) -> Callable[[], Problem]:
    """Which of as many parts of equal size a rent is in, the lowest first."""

    def make() -> Problem:
        rents = _rents()
        edges = np.quantile(rents.y, np.arange(1, parts) / parts)
        return replace(rents, y=np.searchsorted(edges, rents.y), task=Classes(parts))

    return make


def _friedman() -> Problem:
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(1_500, noise=0.5, random_state=0)
    return Problem(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), y)


def _claims() -> Problem:
    from seplearn import datasets

    found = datasets.claims(50_000, random_state=0)
    X = found.X.assign(**{name: found.X[name].astype("category") for name in ("region", "colour")})
    offset, truth = np.log(found.exposure), found.exposure * found.rate
    return Problem(X, found.n_claims, Counts(), offset=offset, truth=truth)


class Made(NamedTuple):
    """A generated problem, and the kind of its task, which is known before it is made."""

    make: Callable[[], Problem]
    kind: str = REGRESSION


MADE = {
    "masked_interaction": Made(_masked),
    "rents": Made(_rents),
    "friedman": Made(_friedman),
    "rents_above": Made(_rents_in(2), CLASSES),
    "rents_in_three": Made(_rents_in(3), CLASSES),
    "claims": Made(_claims, COUNTS),
}
