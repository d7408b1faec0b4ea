"""What a problem asks for: how its rows are split, what a model predicts, how that is scored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

REGRESSION, CLASSES, COUNTS, QUANTILES = "regression", "classes", "counts", "quantiles"
KINDS = (REGRESSION, CLASSES, COUNTS, QUANTILES)
CALIBRATION_BINS = 15
# Some rivals predict in single precision, where one minus this is the last number below one.
LEAST_PROBABILITY = 1e-7

Scores = dict[str, float]


class Task:
    """A mean to predict, and errors in the target's own unit; the other tasks differ from it."""

    kind: ClassVar[str] = REGRESSION

    @property
    def parameters(self) -> dict[str, Any]:
        """What a model is told of the task besides the rows."""
        return {}

    def strata(self, y: np.ndarray) -> np.ndarray | None:  # noqa: ARG002
        """Groups that keep their shares in both parts of a split."""
        return None

    def targets(self, y: np.ndarray) -> np.ndarray:
        """What levels are encoded by, for models that take numbers only: means of it."""
        return y

    def predict(self, model: Any, X: Any, offset: np.ndarray | None) -> np.ndarray:
        given = {} if offset is None else {"offset": offset}
        return np.asarray(model.predict(X, **given), dtype=float)

    def scores(self, problem: Problem, prediction: np.ndarray) -> Scores:
        """How good a prediction of the rows of the problem is."""
        y = problem.y
        error = y - prediction
        spread = float(np.mean((y - y.mean()) ** 2))
        return {
            "rmse": float(np.sqrt(np.mean(error**2))),
            "mae": float(np.mean(np.abs(error))),
            "r2": 1.0 - float(np.mean(error**2)) / spread if spread > 0 else 0.0,
        }


@dataclass(frozen=True)
class Classes(Task):
    """Probabilities of classes; ``y`` has their numbers, from 0 on."""

    n_classes: int
    kind: ClassVar[str] = CLASSES

    def strata(self, y: np.ndarray) -> np.ndarray:
        return y

    def targets(self, y: np.ndarray) -> np.ndarray:
        return y if self.n_classes == 2 else np.eye(self.n_classes)[y]

    def predict(self, model: Any, X: Any, offset: np.ndarray | None) -> np.ndarray:  # noqa: ARG002
        return np.asarray(model.predict_proba(X), dtype=float)

    def scores(self, problem: Problem, prediction: np.ndarray) -> Scores:
        from sklearn.metrics import roc_auc_score

        y = problem.y
        if prediction.shape != (len(y), self.n_classes):
            raise ValueError(
                f"probabilities must have the shape {(len(y), self.n_classes)}, "
                f"got {prediction.shape}"
            )
        is_class = np.eye(self.n_classes)[y]
        likely = np.clip(prediction[np.arange(len(y)), y], LEAST_PROBABILITY, 1.0)
        out = {
            "log_loss": float(-np.mean(np.log(likely))),
            "accuracy": float(np.mean(prediction.argmax(axis=1) == y)),
            "brier": float(np.mean(np.sum((prediction - is_class) ** 2, axis=1)) / 2.0),
            "calibration_error": calibration_error(prediction, is_class),
        }
        if self.n_classes == 2:
            out["auc"] = float(roc_auc_score(y, prediction[:, 1]))
        return out


@dataclass(frozen=True)
class Counts(Task):
    """Means of counts; the offset is the log of the exposure."""

    kind: ClassVar[str] = COUNTS

    def scores(self, problem: Problem, prediction: np.ndarray) -> Scores:
        if prediction.min() <= 0.0:
            raise ValueError(f"means of counts must be above 0, got {prediction.min():g}")
        out = {"deviance": poisson_deviance(problem.y, prediction)}
        if problem.truth is not None:
            out["deviance_of_truth"] = poisson_deviance(problem.y, problem.truth)
            out["deviance_ratio"] = out["deviance"] / out["deviance_of_truth"]
        return out


@dataclass(frozen=True)
class Quantile(Task):
    """The value that an outcome does not exceed with some probability, the level."""

    level: float
    kind: ClassVar[str] = QUANTILES

    @property
    def parameters(self) -> dict[str, Any]:
        return {"level": self.level}

    def scores(self, problem: Problem, prediction: np.ndarray) -> Scores:
        error = problem.y - prediction
        loss = np.maximum(self.level * error, (self.level - 1.0) * error)
        return {"pinball": float(np.mean(loss)), "share_below": float(np.mean(error <= 0.0))}


@dataclass(frozen=True)
class Problem:
    """Rows, their target and what is asked of it.

    Attributes
    ----------
    offset : array or None
        Added to the log of the mean, for counts.
    truth : array or None
        The true mean of every row, where it is known.
    """

    X: pd.DataFrame
    y: np.ndarray
    task: Task = field(default_factory=Task)
    offset: np.ndarray | None = None
    truth: np.ndarray | None = None

    def rows(self, chosen: np.ndarray) -> Problem:
        """Some of the rows."""

        def own(values: np.ndarray | None) -> np.ndarray | None:
            return None if values is None else values[chosen]

        return replace(
            self, X=self.X.iloc[chosen], y=self.y[chosen], offset=own(self.offset),
            truth=own(self.truth),
        )  # fmt: skip


def calibration_error(probabilities: np.ndarray, is_class: np.ndarray) -> float:
    """Expected calibration error, over bins of equal numbers of rows, averaged over classes.

    For each class rows are put into bins by its probability (equal ones into the same). Of a bin
    it is the distance between the mean probability and the share of the class; bins weigh their
    rows. With two classes both have the same.
    """
    return float(np.mean([_off(*pair) for pair in zip(probabilities.T, is_class.T, strict=True)]))


def _off(probability: np.ndarray, happened: np.ndarray) -> float:
    inner = np.arange(1, CALIBRATION_BINS) / CALIBRATION_BINS
    edges = np.quantile(probability, inner)
    gaps = np.bincount(
        np.searchsorted(edges, probability), weights=probability - happened,
        minlength=CALIBRATION_BINS,
    )  # fmt: skip
    return float(np.abs(gaps).sum() / len(probability))


def poisson_deviance(y: np.ndarray, mean: np.ndarray) -> float:
    """Twice the mean log likelihood that the means lack to the counts themselves."""
    logs = np.log(np.where(y > 0, y / mean, 1.0))
    return float(2.0 * np.mean(y * logs - y + mean))
