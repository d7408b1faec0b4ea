"""What an edit changes, measured on rows before it is applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.model.evaluation import ClassEvaluation, Evaluation
from seplearn.table.columns import make_frame

_MOST_ROWS = 10
_ROUNDING = 1e-9  # of a prediction: what changes by less does not change


@dataclass(frozen=True, eq=False)
class EditEffect:
    """What predictions were, and what they would be; ``print(effect)`` tells it in short.

    Attributes
    ----------
    n_rows : int
    changed : float
        Share of the rows whose prediction changes.
    mean_move, largest_move : float
        By how much predictions change, on average over all rows and at most. Of a classifier these
        are probabilities; of several classes the one that changes most in a row counts.
    rows : array of int
        The ten rows that change most, the largest change first; rows count from zero.
    before, after : array
        Predictions of these rows: of a classifier the probability of the second class, of several
        classes that of the class that changes most.
    evaluation_before, evaluation_after : Evaluation, ClassEvaluation or None
        Errors on the rows with a known target, if a target was given.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> effect = model.edit().drop_feature("x0").effect(X, y)
    >>> effect.evaluation_after.rmse > effect.evaluation_before.rmse
    True
    >>> effect.frame().shape
    (10, 4)
    """

    n_rows: int
    changed: float
    mean_move: float
    largest_move: float
    rows: IntArray
    before: FloatArray
    after: FloatArray
    evaluation_before: Evaluation | ClassEvaluation | None
    evaluation_after: Evaluation | ClassEvaluation | None
    library: str | None = None

    @staticmethod
    def of(
        before: FloatArray,
        after: FloatArray,
        evaluations: Sequence[Any],
        library: str | None,
    ) -> EditEffect:
        """The effect on predictions of rows, of several classes the probabilities of all."""
        if before.ndim == 2:
            most = np.argmax(np.abs(after - before), axis=1)[:, None]
            before, after = (np.take_along_axis(p, most, axis=1)[:, 0] for p in (before, after))
        halves = np.abs(0.5 * after - 0.5 * before)  # a move may be beyond the largest number
        size = float(halves.max()) or 1.0  # a sum of moves near the largest number is none
        rows = np.argsort(-halves, kind="stable")[:_MOST_ROWS]
        return EditEffect(
            n_rows=len(halves),
            changed=float(
                np.mean(halves > 0.5 * _ROUNDING * np.maximum(np.abs(before), np.abs(after)))
            ),
            mean_move=2.0 * size * float(np.mean(halves / size)),
            largest_move=2.0 * float(halves.max()),
            rows=rows,
            before=before[rows],
            after=after[rows],
            evaluation_before=evaluations[0],
            evaluation_after=evaluations[1],
            library=library,
        )

    def frame(self) -> Any:
        """The rows that change most, as a data frame in the library of the training table."""
        columns = {
            "row": self.rows,
            "before": self.before,
            "after": self.after,
            "move": self.after - self.before,
        }
        return make_frame(columns, self.library)

    def __str__(self) -> str:
        moves = (
            f"{self.changed:.1%} of {self.n_rows:,} predictions change, on average by "
            f"{self.mean_move:.4g}, at most by {self.largest_move:.4g} (row {self.rows[0]}: "
            f"{self.before[0]:.6g} becomes {self.after[0]:.6g})."
        )
        if self.changed == 0.0:
            moves = f"None of {self.n_rows:,} predictions changes."
        scores = zip(_scores(self.evaluation_before), _scores(self.evaluation_after), strict=True)
        errors = [f"{name}: {old:.4g} becomes {new:.4g}." for (name, old), (_, new) in scores]
        return "\n".join([moves, *errors])


def _scores(evaluation: Evaluation | ClassEvaluation | None) -> list[tuple[str, float]]:
    """The errors by name."""
    if evaluation is None:
        return []
    if isinstance(evaluation, ClassEvaluation):
        return [("log-loss", evaluation.log_loss), ("accuracy", evaluation.accuracy)]
    if evaluation.scores:
        return list(evaluation.scores.items())
    return [("RMSE", evaluation.rmse), ("mean absolute error", evaluation.mae)]
