"""The paper's masked interaction in one go: fit, a printed summary, two figures.

    y = x1**2 * x2 * (1 + x3) + noise

Every average over x3 hides x1; the curves of the model do not.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from seplearn import TSLRegressor, datasets, explain
from seplearn.plots import plot_curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo"), help="folder for the figures")
    parser.add_argument("--rows", type=int, default=10_000, help="rows to fit")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)

    X, y = datasets.masked_interaction(arguments.rows, random_state=0)
    X_test, y_test = datasets.masked_interaction(50_000, random_state=1)
    # Two stages are what the function is made of; bands come from 100 bootstrap refits.
    options = {"early_stopping": False, "random_state": 0, "n_jobs": -1}
    started = time.perf_counter()
    model = TSLRegressor(n_stages=2, n_bootstrap=100, verbose=1, **options).fit(X, y)
    seconds = time.perf_counter() - started

    errors = []
    for n_stages in (1, 2, 3):
        smaller = TSLRegressor(n_stages=n_stages, **options).fit(X, y)
        errors.append(rmse(y_test, smaller.predict(X_test)))
    print(f"\n{len(X):,} rows, {len(model.stages_)} stages with bands, fitted in {seconds:.1f} s")
    print("  stage   lambda+   lambda-")
    for number, stage in enumerate(model.stages_, start=1):
        print(f"  {number:5d}  {stage.lambda_plus:8.4f}  {stage.lambda_minus:8.4f}")
    floor = datasets.MASKED_INTERACTION_NOISE
    error = rmse(y_test, model.predict(X_test))
    print(f"\ntest RMSE {error:.4f}; noise floor {floor}; the mean alone {y_test.std():.4f}")

    ranges = [tuple(np.quantile(column, [0.005, 0.995])) for column in X.T]
    figures = {
        "curves.png": plot_curves(named_curves(model), ranges),
        "fit.png": plot_fit(y_test, model.predict(X_test), errors, floor),
    }
    for name, figure in figures.items():
        figure.savefig(arguments.output / name, dpi=150)
        print(f"wrote {arguments.output / name}")


def named_curves(model: TSLRegressor) -> list[explain.Curve]:
    """The curves of stage 1; an array has no column names, so they get theirs here."""
    return [replace(c, name=f"x{c.feature + 1}") for c in explain.curves(model, 0)]


def rmse(y: np.ndarray, prediction: np.ndarray) -> float:
    return float(np.sqrt(np.mean((y - prediction) ** 2)))


def plot_fit(y: np.ndarray, prediction: np.ndarray, errors: list[float], floor: float) -> Figure:
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    shown = slice(0, 4000)
    left.scatter(prediction[shown], y[shown], s=4, alpha=0.3, color="#22313f", linewidths=0)
    low, high = np.quantile(y, [0.001, 0.999])
    left.plot([low, high], [low, high], color="#c0392b", linewidth=1)
    left.set(xlim=(low, high), ylim=(low, high), xlabel="prediction", ylabel="y (test rows)")
    right.plot(range(1, len(errors) + 1), errors, marker="o", color="#22313f", label="test RMSE")
    right.axhline(floor, color="#1b7f5c", linestyle="--", label="noise floor")
    right.set(xlabel="stages", ylabel="RMSE", ylim=(0, None), xticks=range(1, len(errors) + 1))
    right.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
