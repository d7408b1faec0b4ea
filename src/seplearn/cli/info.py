"""The command info: what a file of a model holds."""

from __future__ import annotations

import click

from seplearn._numerals import count
from seplearn.cli.classes import of_several
from seplearn.cli.lines import printable, say
from seplearn.cli.tables import open_model
from seplearn.cli.text import model_text, number, shortened
from seplearn.cli.text import table as text_table
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.classifier import TSLClassifier
from seplearn.explain.subject import Subject
from seplearn.losses import IDENTITY
from seplearn.report.provenance import told_provenance


@click.command()
@click.argument("model")
def info(model: str) -> None:
    """Say what the model in the file MODEL does, and what else is in the file."""
    estimator = open_model(model)
    target = printable(estimator.target_name_ or "a target without a name")
    reference = estimator.model_.reference
    lines = [
        f"{type(estimator).__name__} for {target}: {size_text(estimator)}",
        *_meaning_of_sums(estimator),
        (
            f"reference rows: {0 if reference is None else len(reference.codes)}, "
            f"bootstrap replicates: {len(estimator.model_.replicates)}"
        ),
        *(
            printable(f"{what if what[:2].isupper() else what[0].lower() + what[1:]}: {text}")
            for what, text in told_provenance(estimator)
            if what != "Target"
        ),
    ]
    if estimator.evaluation_ is not None:
        lines.append(f"error when it was fitted: {estimator.evaluation_}")
    lines += [f"edit {k}: {printable(str(edit))}" for k, edit in enumerate(estimator.edits_, 1)]
    say("\n".join([model_text(estimator), "", *lines, "", _axes_text(estimator)]))


def size_text(estimator: SeparationEstimator) -> str:
    """How large a model is: its classes, stages and features."""
    features = f"{estimator.n_features_in_} features"
    several = of_several(estimator)
    if several is not None:
        n_stages = sum(len(own) for own in several.stages_)
        return f"{len(several.classes_)} classes, {count(n_stages, 'stage')} in all, {features}"
    effects = "" if estimator.model_.effects is None else "main effects, "
    constant = f"constant {number(estimator.intercept_)}"
    return f"{count(len(estimator.stages_), 'stage')}, {effects}{features}, {constant}"


def _meaning_of_sums(estimator: SeparationEstimator) -> list[str]:
    """What constant, main effects and stages add up to, and what is added besides."""
    lines = []
    if of_several(estimator) is not None:
        lines.append(
            "constant, main effects and stages of a class add up to its score; its probability is "
            "the exponential of that over the sum of all exponentials"
        )
    elif estimator.model_.link is not IDENTITY:
        subject = Subject.of(estimator)
        lines.append(
            f"constant, main effects and stages add up to the {subject.quantity}; the "
            f"{subject.response} follows from it"
        )
    if isinstance(estimator, TSLClassifier):
        lines.append(f"classes: {', '.join(str(one) for one in estimator.classes_.tolist())}")
    own = estimator.offset_column_
    if own is not None:
        lines.append(f"offset: {'the log of ' if own.is_exposure else ''}column {own.name!r}")
    return lines


def _axes_text(estimator: SeparationEstimator) -> str:
    rows = []
    for name, axis in zip(estimator._schema.labels, estimator.model_.bins.axes, strict=True):
        description = axis.describe()
        if description.kind == "numeric":
            rows.append((shortened(name), "numbers", f"{description.meanings.count('range')} bins"))
        else:
            levels = ", ".join(description.levels[:5]) + (
                ", ..." if len(description.levels) > 5 else ""
            )
            rows.append(
                (shortened(name), f"{len(description.levels)} levels", shortened(levels, 50))
            )
    return text_table(("feature", "kind", ""), rows)
