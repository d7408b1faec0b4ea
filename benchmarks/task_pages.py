"""The pages of tasks other than regression: classes, and counts and quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks import report
from benchmarks.report import Protocol, Row, Score
from benchmarks.tasks import CALIBRATION_BINS, CLASSES, COUNTS, LEAST_PROBABILITY, QUANTILES

_TIMES = (
    Score("cpu_seconds", "CPU time of the fit"),
    Score("predict_seconds", "time to predict"),
)
_DEFAULTS = (
    "No model is tuned. Models that take numbers only get the mean target of a level in the "
    "training part. `linear with splines` is scikit-learn's linear model of the task on splines of "
    "every number, with five knots at equal distances, and indicators of every level"
)


def _default(row: Row) -> bool:
    return row["tag"] == "default"


CLASSIFICATION = Protocol(
    "classification",
    "Classification",
    (
        f"80/20 splits that keep the shares of the classes. {_DEFAULTS}: logistic regression. The "
        "log-loss takes no probability for less than "
        f"{LEAST_PROBABILITY:g}. The Brier score is half the sum of squares over the classes. The "
        f"calibration error puts the rows of each class into {CALIBRATION_BINS} bins of equal "
        "numbers by its probability, and is the mean distance between probability and share. The "
        "area under the ROC curve (AUC) is of tables of two classes."
    ),
    _default,
    kind=CLASSES,
    score=Score("log_loss", "log-loss"),
    null="the shares of the classes",
    beside=(
        Score("calibration_error", "calibration error"),
        Score("brier", "Brier score"),
        Score("accuracy", "accuracy", more_is_better=True),
        Score("auc", "AUC", more_is_better=True),
        *_TIMES,
    ),
    shown=(
        Score("calibration_error", "Calibration error"),
        Score("accuracy", "Accuracy"),
        Score("auc", "Area under the ROC curve"),
    ),
    columns=("log_loss", "auc", "accuracy", "brier", "calibration_error"),
)
COUNT_PART = Protocol(
    "counts",
    "Counts",
    (
        f"80/20 splits; mean Poisson deviance. {_DEFAULTS}: Poisson regression, with the penalty "
        "that logistic regression has by default, as its own leaves nothing of the splines. "
        "`made:claims` is generated, with exposures: its true rate is known, and has a deviance "
        "that no model can be expected to go below."
    ),
    _default,
    kind=COUNTS,
    score=Score("deviance", "deviance"),
    beside=_TIMES,
    shown=(Score("deviance_ratio", "Deviance over that of the true rate"),),
    columns=("deviance", "deviance_of_truth", "deviance_ratio"),
)
QUANTILE_PART = Protocol(
    "quantiles",
    "Quantiles",
    (
        f"80/20 splits; pinball loss. {_DEFAULTS}: quantile regression, with the same penalty. "
        "A problem is a level of a table, so that levels of one table count as several problems."
    ),
    _default,
    kind=QUANTILES,
    score=Score("pinball", "pinball loss"),
    null="the quantile",
    beside=_TIMES,
    shown=(Score("share_below", "Share of test rows that are not above the quantile"),),
    columns=("pinball", "share_below"),
)


@dataclass(frozen=True)
class Page:
    """One or more protocols under one title."""

    name: str
    title: str
    parts: tuple[Protocol, ...]

    def markdown(self, rows: list[Row], pictures: dict[str, str] | None = None) -> str:
        """The page; ``pictures`` names the files of figures by part."""
        texts = []
        for part in self.parts:
            head, _, body = report.markdown(rows, part).partition("\n")
            picture = (pictures or {}).get(part.name)
            shown = [f"\n![{part.title}]({picture})\n"] if picture else []
            texts.append("\n".join([head, *shown, body]))
        if len(texts) == 1:
            return texts[0]
        return "\n".join([f"# {self.title}\n", *map(report.shifted, texts)])

    def write(self, rows: list[Row], folder: Path) -> list[Path]:
        """The page, and of every part the table of its rows and its figure."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.md"
        path.write_text(self.markdown(rows), encoding="utf-8")
        own = [report.write_rows(rows, part, folder) for part in self.parts if part.rows(rows)]
        return [path, *(file for files in own for file in files)]


PAGES = (
    Page("classification", "Classification", (CLASSIFICATION,)),
    Page("counts_and_quantiles", "Counts and quantiles", (COUNT_PART, QUANTILE_PART)),
)
