"""The paper's masked interaction in one go: fit, a printed summary, three figures.

    y = x1**2 * x2 * (1 + x3) + noise

Every average over x3 hides x1; the curves of the model do not.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from seplearn import TSLRegressor, datasets, explain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo"), help="folder for the figures")
    parser.add_argument("--rows", type=int, default=10_000, help="rows to fit")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)

    X, y = datasets.masked_interaction(arguments.rows, as_frame=True, random_state=0)
    X_test, y_test = datasets.masked_interaction(50_000, as_frame=True, random_state=1)
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
    print("\nwhat the features do")
    print(explain.roles(model))
    floor = datasets.MASKED_INTERACTION_NOISE
    error = rmse(y_test, model.predict(X_test))
    print(f"\ntest RMSE {error:.4f}; noise floor {floor}; the mean alone {y_test.std():.4f}")

    figures = {
        "curves.png": explain.curves(model, 0).plot(),
        "hidden.png": plot_hidden(model),
        "fit.png": plot_fit(y_test, model.predict(X_test), errors, floor),
    }
    for name, figure in figures.items():
        figure.savefig(arguments.output / name, dpi=150)
        print(f"wrote {arguments.output / name}")


def rmse(y: np.ndarray, prediction: np.ndarray) -> float:
    return float(np.sqrt(np.mean((y - prediction) ** 2)))


def plot_hidden(model: TSLRegressor) -> Figure:
    """x1 in three views: its average is flat, single rows and the stage are not."""
    figure = Figure(figsize=(12.0, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    dependence = explain.partial_dependence(model, "x1")
    dependence.plot(ax=left)
    explain.ice(model, "x1").plot(ax=middle)
    left.set_ylim(middle.get_ylim())
    left.set_title("partial dependence: flat", fontsize=10)
    middle.set_title("200 rows: anything but flat", fontsize=10)
    dependence.plot(ax=right, stage=0)
    return figure


def plot_fit(y: np.ndarray, prediction: np.ndarray, errors: list[float], floor: float) -> Figure:
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    shown = slice(0, 4000)
    left.scatter(prediction[shown], y[shown], s=4, alpha=0.3, color="#1f3b57", linewidths=0)
    low, high = np.quantile(y, [0.001, 0.999])
    left.plot([low, high], [low, high], color="#c51b7d", linewidth=1)
    left.set(xlim=(low, high), ylim=(low, high), xlabel="prediction", ylabel="y (test rows)")
    right.plot(range(1, len(errors) + 1), errors, marker="o", color="#1f3b57", label="test RMSE")
    right.axhline(floor, color="#2f7d32", linestyle="--", label="noise floor")
    right.set(xlabel="stages", ylabel="RMSE", ylim=(0, None), xticks=range(1, len(errors) + 1))
    right.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
