"""A classifier of more than two classes in plain sentences, from mean probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from seplearn._numerals import count, listed, percent
from seplearn.explain.axes import place_texts, span_at
from seplearn.explain.class_importance import ClassImportance, class_importance_of
from seplearn.explain.class_response import ClassResponse, class_response_of
from seplearn.explain.result import Explanation
from seplearn.explain.sections import in_html, in_lines
from seplearn.explain.shape import shown_bins, way_along
from seplearn.explain.size_path import SizeChoice, size_path
from seplearn.explain.sizes import few_rows
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.losses.links import class_shares
from seplearn.model.classes import ClassModels
from seplearn.model.reading import brief, read_curves
from seplearn.model.reference import Reference

# Probabilities of rows, a feature set to each of its values: so many take about two seconds.
_MOST_WORK = 40_000_000
_FEWEST_ROWS, _MOST_ROWS = 200, 1_000
_ROUNDING = 1e-9
_MOST_FEATURES, _MOST_CLASSES, _MOST_NAMES = 12, 12, 8
_TOLD_CLASSES = 2  # of which is told what a feature does to them
_SMALLEST_SHARE = 0.01
# What moves a probability by less than this, or by less than this share of it, is not told.
_HARDLY, _HARDLY_OF_RARE = 0.02, 0.25

MORE_OF_ONE_CLASS = (
    "The summary of model.for_class(label) tells more of one class, that of "
    "model.for_class(label, against=another) of two."
)


@dataclass(frozen=True, eq=False)
class ClassFeature:
    """What one feature does to the probabilities of all classes.

    Attributes
    ----------
    name : str
    share : float
        Of all importance.
    response : ClassResponse
        The mean probabilities in every bin.
    bins : array of int
        The bins that have rows; of a numeric feature without the outermost 1 % on either side.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLClassifier, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> three = np.array(["cheap", "fair", "dear"])[np.digitize(y, [600, 900])]
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0).fit(X, three)
    >>> explain.summary(model)["area"].sentence.startswith("The probability of ")
    True
    """

    name: str
    share: float
    response: ClassResponse
    bins: IntArray

    @property
    def ranges(self) -> FloatArray:
        """How far apart the mean probabilities of every class are, shape (n_classes,)."""
        ranges: FloatArray = np.ptp(self.response.average[:, self.bins], axis=1)
        return ranges

    @property
    def sentence(self) -> str:
        """What it does to the probabilities that it moves most."""
        least = np.minimum(_HARDLY, _HARDLY_OF_RARE * self.response.mean)
        moved = self.ranges >= np.maximum(least, _ROUNDING)
        order = np.argsort(-np.where(moved, self.ranges, 0.0), kind="stable")[:_TOLD_CLASSES]
        told = [self._of_class(int(k)) for k in order if moved[k]]
        if not told:
            return "On average it hardly moves any probability."
        return f"The probability of {'; that of '.join(told)}."

    def _of_class(self, k: int) -> str:
        label, curve = brief(str(self.response.classes[k])), self.response.average[k, self.bins]
        axis = self.response.axis.describe()
        low, high = int(curve.argmin()), int(curve.argmax())
        if axis.range is None:
            least, most = (
                f"{percent(curve[k])} for {brief(axis.labels[self.bins[k]])}" for k in (low, high)
            )
            return f"{label} is between {least} and {most}"
        values = np.asarray(axis.values, dtype=float)[self.bins]
        way = way_along(curve)
        told = [0, len(curve) - 1] if way else [low, high]
        span = min(span_at(values, end) for end in told)
        places = place_texts([values[end] for end in told], span)
        first, last = (
            f"{percent(curve[end])} at {place}" for end, place in zip(told, places, strict=True)
        )
        if not way:
            return f"{label} is between {first} and {last}"
        return f"{label} {way} from {first} to {last}"


@dataclass(frozen=True, eq=False, repr=False)
class ClassSummary(Explanation):
    """What a classifier of several classes says as a whole; ``print(summary)`` tells it.

    Attributes
    ----------
    target : str or None
        Its name, if it has one.
    classes : list
        The labels, in the order of ``classes_``.
    frequencies : array of shape (n_classes,)
        The mean probabilities over the rows.
    names : tuple of str
        Of all features.
    stage_names : tuple of tuple of str
        Those of every class.
    has_effects : tuple of bool
        Whether the score of a class has main effects.
    reading_size : int
        Number of curves, of all classes, that are not flat.
    features : tuple of ClassFeature
        Those in at least one curve, the most important first.
    unused : tuple of str
        Features in no curve.
    importance : ClassImportance
    n_rows : int
        Rows that all this is over.
    over_training : bool
        Whether these are the reference rows that the model keeps, not rows that were given.
    size : SizeChoice or None
        Why it has so many stages, if that was chosen on held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLClassifier, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> three = np.array(["cheap", "fair", "dear"])[np.digitize(y, [600, 900])]
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0).fit(X, three)
    >>> summary = explain.summary(model)
    >>> summary.features[0].name, summary.classes
    ('area', ['cheap', 'dear', 'fair'])
    >>> "What every class goes by" in str(summary)
    True
    """

    _figure: ClassVar[str] = "plot_summary"

    target: str | None
    classes: list[Any]
    frequencies: FloatArray
    names: tuple[str, ...]
    stage_names: tuple[tuple[str, ...], ...]
    has_effects: tuple[bool, ...]
    reading_size: int
    features: tuple[ClassFeature, ...]
    unused: tuple[str, ...]
    importance: ClassImportance
    n_rows: int
    over_training: bool = False
    size: SizeChoice | None = None

    def __getitem__(self, feature: str) -> ClassFeature:
        for one in self.features:
            if one.name == feature:
                return one
        raise KeyError(f"feature must be one of {[f.name for f in self.features]}, got {feature!r}")

    @property
    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Headings and the sentences below them."""
        parts = [
            ("", self._opening()),
            ("What tells the classes apart, and how probable they are on average", self._movers()),
            (
                "What every class goes by, through its own score and those of the others",
                self._of_classes(),
            ),
        ]
        if self.unused:
            unused = listed([brief(name) for name in self.unused], _MOST_NAMES)
            parts.append(("Not used", (f"{unused}: in no curve.",)))
        return tuple((heading, sentences) for heading, sentences in parts if sentences)

    def __str__(self) -> str:
        return in_lines(self.sections)

    def _words_html(self) -> str:
        """The sentences, below their headings."""
        return in_html(self.sections)

    def _figure_html(self) -> str:
        """The bars alone: the sentences are in words already."""
        return self.importance._figure_html()

    def brief_html(self) -> str:
        """The sentences and a small figure, for the page of a notebook that shows a model."""
        return self._words_html() + self._figure_html()

    def _opening(self) -> tuple[str, ...]:
        n_stages = sum(map(len, self.stage_names))
        parts = [count(n_stages, "stage")] if n_stages else []
        parts += ["main effects"] * any(self.has_effects)
        text = (
            f"The model tells {len(self.classes)} classes of "
            f"{brief(self.target or 'the target')} apart by {count(len(self.names), 'feature')} "
            f"with {listed(parts) if parts else 'constants'}, a score for each class: "
            f"{count(self.reading_size, 'curve')} to read."
        )
        size = () if self.size is None else (f"Its size: {self.size}.",)
        whose = "training row" if self.over_training else "row"
        of = " kept in the model" if self.over_training else " given"
        spoken = f"Averages here are over {count(self.n_rows, whose)}{of}."
        return (text, *size, spoken, MORE_OF_ONE_CLASS)

    def _movers(self) -> tuple[str, ...]:
        told = [one for one in self.features if one.share >= _SMALLEST_SHARE][:_MOST_FEATURES]
        lines = [f"{brief(one.name)}: {percent(one.share)}. {one.sentence}" for one in told]
        rest = self.features[len(told) :]
        if rest:
            names = listed([brief(one.name) for one in rest], _MOST_NAMES)
            together = " together" if len(rest) > 1 else ""
            lines.append(f"{names}: {percent(sum(one.share for one in rest))}{together}.")
        return tuple(lines)

    def _of_classes(self) -> tuple[str, ...]:
        often = np.argsort(-self.frequencies, kind="stable")
        lines = [self._of_class(int(k)) for k in often[:_MOST_CLASSES]]
        rest = len(often) - len(lines)
        return (*lines, f"{rest} more, which are rarer.") if rest else tuple(lines)

    def _of_class(self, k: int) -> str:
        sizes = self.importance.of_class[k]
        largest = [j for j in np.argsort(-sizes, kind="stable")[:3] if sizes[j] > 0.0]
        by = listed([brief(self.names[j]) for j in largest]) if largest else "nothing"
        stages = [brief(name) for name in self.stage_names[k]]
        parts = [f"{count(len(stages), 'stage')} ({listed(stages, 3)})"] if stages else []
        parts += ["main effects"] * self.has_effects[k]
        own = f"; its score has {listed(parts)}" if parts else "; its score is a constant"
        label, share = brief(str(self.classes[k])), percent(float(self.frequencies[k]))
        return f"{label}, {share} on average: by {by}{own}."

    def _columns(self) -> dict[str, Any]:
        """One row per feature, the most important first; those in no curve last."""
        rest = len(self.unused)
        columns: dict[str, Any] = {
            "feature": [*(one.name for one in self.features), *self.unused],
            "share": np.array([*(one.share for one in self.features), *[0.0] * rest]),
        }
        ranges = np.array([one.ranges for one in self.features]).reshape(-1, len(self.classes))
        for k, label in enumerate(self.classes):
            columns[f"range of {label}"] = np.append(ranges[:, k], np.zeros(rest))
        return columns


def class_summary_of(classifier: Any, models: ClassModels, background: Any) -> ClassSummary:
    """The summary of a classifier of several classes."""
    subject = Subject.of_any(classifier)
    labels, used = classifier.classes_.tolist(), _used(models)
    every = subject.rows(background)
    rows = few_rows(every, _affordable_rows(models, used))
    # Sentences have no bands: refits to bootstrap samples would only take time.
    alone = models.each(lambda one: replace(one, replicates=()))
    sizes = class_importance_of(alone, subject, labels, rows)
    return ClassSummary(
        target=subject.schema.target,
        classes=labels,
        frequencies=rows.weight @ class_shares(models.predict(rows.codes)),
        names=subject.names,
        stage_names=models.stage_names(subject.names),
        has_effects=tuple(
            one.effects is not None and bool(one.effects.any()) for one in models.models
        ),
        reading_size=models.reading_size,
        features=tuple(
            _feature(alone, subject, labels, j, sizes, rows) for j in sizes.order if j in used
        ),
        unused=tuple(name for j, name in enumerate(subject.names) if j not in used),
        importance=sizes,
        n_rows=len(rows.codes),
        over_training=every is models.reference,
        size=size_path(classifier) if models.size_paths else None,
        library=subject.schema.library,
        quantity="probability",
    )


def _used(models: ClassModels) -> set[int]:
    """The features in at least one curve of some class."""
    curves = (read_curves(one.stages, one.effects, one.bins) for one in models.models)
    return {curve.feature for own in curves for curve in own}


def _affordable_rows(models: ClassModels, used: set[int]) -> int:
    """How many rows probabilities can be averaged over in reasonable time."""
    n_bins = sum(models.bins.axes[j].n_bins for j in used)
    work = max(1, len(models.models) * n_bins)
    return int(np.clip(_MOST_WORK // work, _FEWEST_ROWS, _MOST_ROWS))


def _feature(
    models: ClassModels,
    subject: Subject,
    classes: Sequence[Any],
    j: int,
    sizes: ClassImportance,
    rows: Reference,
) -> ClassFeature:
    response = class_response_of(models, subject, classes, j, rows, 0.9)
    return ClassFeature(
        subject.names[j], float(sizes.share[j]), response, shown_bins(models.bins, j)
    )
