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
from benchmarks.run import Parameters
from benchmarks.tasks import REGRESSION

N_FOLDS = 10


def file_name(cell: dict[str, Any]) -> str:
    """A name for the file of the best parameters."""
    words = f"{cell['problem']}--{cell['rival']}--{cell['split']}"
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in words)


def study_name(cell: dict[str, Any], n_folds: int, n_rows: int) -> str:
    """A name for the study: errors of other folds or other rows cannot be compared."""
    return f"{file_name(cell)}--{n_folds}-folds--{n_rows}-rows"


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
    """Run the trials that are missing; the best parameters are written after each of them.

    With ``n_rows`` at most so many training rows are used, drawn at random: large tables take long.
    """
    rival = rival_of(cell)
    X, y = _training_part(rival, cell, n_rows)
    if n_folds > len(y):
        raise ValueError(f"folds must be at most the number of rows ({len(y)}), got {n_folds}")
    study = open_study(folder, study_name(cell, n_folds, len(y)))
    facts = {key: cell[key] for key in ("problem", "rival", "split")}
    facts |= {"folds": n_folds, "rows": len(y)}
    study.optimize(
        lambda trial: cv_error(rival, suggest(trial, rival.space), X, y, n_folds),
        n_trials=max(0, n_trials - len(_complete(study))),
        catch=(Exception,),
        callbacks=[lambda done, _: _write_best(done, folder / f"{file_name(cell)}.json", facts)],
    )
    if not _complete(study):
        raise ValueError("no trial ended well; the first messages above say why")
    return _write_best(study, folder / f"{file_name(cell)}.json", facts)


def _training_part(
    rival: Rival, cell: dict[str, Any], n_rows: int | None
) -> tuple[pd.DataFrame, np.ndarray]:
    if not rival.space:
        raise ValueError(f"rival {rival.name!r} has nothing to tune")
    part, _ = parts_of(cell)
    if part.task.kind != REGRESSION:
        raise ValueError(f"only {REGRESSION} is tuned, got a problem of {part.task.kind}")
    n_all = len(part.y)
    if n_rows is not None and n_rows < n_all:
        part = part.rows(np.sort(np.random.default_rng(0).choice(n_all, n_rows, replace=False)))
    why_not = rival.why_not(part)
    if why_not is not None:
        raise ValueError(why_not)
    return part.X, part.y


def _complete(study: Any) -> list[Any]:
    import optuna

    return study.get_trials(states=[optuna.trial.TrialState.COMPLETE], deepcopy=False)


def _write_best(study: Any, target: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """The best parameters so far in a file, all or nothing."""
    complete = _complete(study)
    if not complete:
        return {}
    best = {"params": study.best_params, "cv_rmse": study.best_value, "trials": len(complete)}
    temporary = target.with_suffix(".part")
    temporary.write_text(json.dumps(facts | best, indent=1) + "\n", encoding="utf-8")
    temporary.replace(target)
    return best


def found(folder: Path) -> list[dict[str, Any]]:
    """The files of the best parameters so far."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def tuned(folder: Path) -> Parameters:
    """The best parameters so far. They serve their own split alone: others share its test rows."""
    return {(f["problem"], f["rival"], f["split"]): f["params"] for f in found(folder)}
