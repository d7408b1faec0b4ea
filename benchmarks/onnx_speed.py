"""Batches of predictions: onnxruntime with an exported graph beside ``predict``.

Models of the made-up rents, of two classes and of ten, each asked for the same rows by both in turn
in one process, with one thread each. What is told is how many times as long onnxruntime takes, the
median over the turns; inputs are ready for both before the clock runs.

    python -m benchmarks.onnx_speed
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from seplearn import TSLClassifier, TSLRegressor, datasets

RESULTS = Path(__file__).parent / "results" / "onnx_speed.json"
N_TRAINING, N_TURNS = 4_000, 15
BATCHES = (1, 1_000, 100_000)
N_CLASSES = 10


def models() -> dict[str, Any]:
    """Of numbers, two classes and ten, by name."""
    X, y = datasets.rents(N_TRAINING, random_state=0)
    options: dict[str, Any] = {"n_stages": 4, "early_stopping": False, "random_state": 0}
    tenths = np.digitize(y, np.quantile(y, np.linspace(0.0, 1.0, N_CLASSES + 1)[1:-1]))
    return {
        "regression": TSLRegressor(**options).fit(X, y),
        "two classes": TSLClassifier(**options).fit(X, y > np.median(y)),
        "ten classes": TSLClassifier(**options).fit(X, tenths),
    }


def columns_of(session: Any, X: Any) -> dict[str, Any]:
    """The inputs of a graph."""
    columns = {}
    for one in session.get_inputs():
        is_text = one.type == "tensor(string)"
        column = X[one.name].astype(object).where(X[one.name].notna(), "" if is_text else np.nan)
        columns[one.name] = column.to_numpy(str if is_text else float).reshape(-1, 1)
    return columns


def seconds(function: Callable[[], Any]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def measured(model: Any, X: Any) -> dict[str, Any]:
    """Milliseconds of both and their ratio, for a batch; and whether they agree."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString(), options)
    columns = columns_of(session, X)
    is_classifier = hasattr(model, "classes_")
    wanted = ["probabilities" if is_classifier else "prediction"]
    ours = model.predict_proba if is_classifier else model.predict
    difference = np.abs(session.run(wanted, columns)[0].squeeze() - ours(X).squeeze()).max()
    turns = [
        (seconds(lambda: ours(X)), seconds(lambda: session.run(wanted, columns)))
        for _ in range(N_TURNS)
    ]
    own, theirs = np.array(turns).T
    return {
        "rows": len(X),
        "ms_seplearn": 1e3 * float(np.median(own)),
        "ms_onnxruntime": 1e3 * float(np.median(theirs)),
        "ratio": float(np.median(theirs / own)),
        "largest_difference": float(difference),
    }


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    X, _ = datasets.rents(max(BATCHES), random_state=1)
    result = {
        "models": {
            name: [measured(model, X[:size]) for size in BATCHES]
            for name, model in models().items()
        },
        "commit": machine.commit(),
        "machine": machine.describe("seplearn", "onnxruntime", "numpy", "numba"),
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
