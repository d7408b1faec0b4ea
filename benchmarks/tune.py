"""Tune models as the paper does: Optuna's TPE, cross-validation on the training part.

One journal file per (problem, rival, split); a study that was ended is taken up where it stopped.

    python -m benchmarks tune --rivals seplearn --problems made:rents --trials 30
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from benchmarks.cell import parts_of, rival_of
from benchmarks.rivals.interface import OneOf, Real, Rival, Space, Whole

N_FOLDS = 10


def study_name(cell: dict[str, Any]) -> str:
    """A name that serves as a file name."""
    words = f"{cell['problem']}--{cell['rival']}--{cell['split']}"
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in words)


def seed_of(name: str, n_done: int) -> int:
    """Every study has a seed of its own, and one taken up does not draw its first points again."""
    return zlib.crc32(f"{name} {n_done}".encode())


def suggest(trial: Any, space: Space) -> dict[str, Any]:
    """A point of the search space."""
    values: dict[str, Any] = {}
    for name, domain in space.items():
        if isinstance(domain, Whole):
            values[name] = trial.suggest_int(name, domain.low, domain.high)
        elif isinstance(domain, Real):
            values[name] = trial.suggest_float(name, domain.low, domain.high, log=domain.log)
        elif isinstance(domain, OneOf):
            values[name] = trial.suggest_categorical(name, domain.options)
    return values


def cv_error(
    rival: Rival, parameters: dict[str, Any], X: pd.DataFrame, y: np.ndarray, n_folds: int
) -> float:
    """Root mean squared error over all folds of the training part; the test part is not seen."""
    errors = np.empty(len(y))
    for rows, held in KFold(n_folds, shuffle=True, random_state=0).split(X):
        table, held_table = rival.tables(X.iloc[rows], y[rows], X.iloc[held])
        model = rival.make(dict(parameters), 0).fit(table, y[rows])
        errors[held] = y[held] - np.asarray(model.predict(held_table), dtype=float)
    return float(np.sqrt(np.mean(errors**2)))


def open_study(folder: Path, name: str) -> Any:
    """The study as far as its journal goes."""
    import optuna

    folder.mkdir(parents=True, exist_ok=True)
    storage = optuna.storages.JournalStorage(
        optuna.storages.journal.JournalFileBackend(str(folder / f"{name}.journal"))
    )
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        study_name=name, storage=storage, load_if_exists=True, direction="minimize"
    )
    study.sampler = optuna.samplers.TPESampler(seed=seed_of(name, len(study.trials)))
    return study


def tune(
    cell: dict[str, Any],
    folder: Path,
    n_trials: int,
    n_folds: int = N_FOLDS,
    n_rows: int | None = None,
) -> dict[str, Any]:
    """Run the trials that are missing; the best parameters are written beside the journal.

    With ``n_rows`` at most so many training rows are used, drawn at random: large tables take long.
    """
    import optuna

    rival = rival_of(cell)
    if not rival.space:
        raise ValueError(f"rival {rival.name!r} has nothing to tune")
    X, _, y, _ = parts_of(cell)
    if n_rows is not None and n_rows < len(y):
        chosen = np.sort(np.random.default_rng(0).choice(len(y), n_rows, replace=False))
        X, y = X.iloc[chosen], y[chosen]
    why_not = rival.why_not(X)
    if why_not is not None:
        raise ValueError(why_not)
    name = study_name(cell)
    study = open_study(folder, name)
    complete = len(study.get_trials(states=[optuna.trial.TrialState.COMPLETE], deepcopy=False))
    study.optimize(
        lambda trial: cv_error(rival, suggest(trial, rival.space), X, y, n_folds),
        n_trials=max(0, n_trials - complete),
        catch=(Exception,),
    )
    best = {"params": study.best_params, "cv_rmse": study.best_value, "trials": len(study.trials)}
    best |= {"folds": n_folds, "rows": len(y)}
    kept = {key: cell[key] for key in ("problem", "rival", "split")}
    target = folder / f"{name}.json"
    temporary = target.with_suffix(".part")
    temporary.write_text(json.dumps(kept | best, indent=1) + "\n", encoding="utf-8")
    temporary.replace(target)
    return best


def tuned(folder: Path, split: int) -> dict[tuple[str, str], dict[str, Any]]:
    """The best parameters found so far, by (problem, rival)."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json"))
    return {(f["problem"], f["rival"]): f["params"] for f in found if f["split"] == split}
