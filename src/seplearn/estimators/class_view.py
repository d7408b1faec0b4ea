"""One sum of a model of several classes, to be read and explained."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Stage
from seplearn.table.schema import Schema


@dataclass(frozen=True, eq=False)
class ClassView:
    """What a classifier says of one class; ``TSLClassifier.for_class`` makes it.

    Attributes
    ----------
    model_ : SeparationModel
        The sum that is shown.
    quantity : str
        What it is, in words: the score of a class, or the log-odds of one against another.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLClassifier, datasets
    >>> X, y = datasets.masked_interaction(300, random_state=0)
    >>> three = np.digitize(y, [-1.0, 1.0])
    >>> model = TSLClassifier(n_stages=1, early_stopping=False, random_state=0).fit(X, three)
    >>> model.for_class(2).quantity, model.for_class(2, against=0).quantity
    ('score of 2', 'log-odds of 2 against 0')
    """

    model_: SeparationModel = field(repr=False)
    _schema: Schema = field(repr=False)
    _owner: str = field(repr=False)
    quantity: str
    _response: str = field(repr=False)

    @property
    def subject(self) -> Subject:
        """What explanations are made of."""
        return Subject(self.model_, self._schema, self._owner, self.quantity, self._response)

    @property
    def stages_(self) -> tuple[Stage, ...]:
        return self.model_.stages

    @property
    def stage_names_(self) -> tuple[str, ...]:
        return self.model_.stage_names(self._schema.labels)

    @property
    def intercept_(self) -> float:
        return self.model_.intercept

    @property
    def reading_size_(self) -> int:
        return self.model_.reading_size

    def decision_function(self, X: Any) -> FloatArray:
        """The sum, shape (n,): what explanations add up to.

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        return self.model_.predict(self.subject.codes(X))

    def predict_stages(self, X: Any) -> FloatArray:
        """Contribution of every stage, shape (n, n_stages).

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        return self.model_.contributions(self.subject.codes(X))

    def predict_effects(self, X: Any) -> FloatArray:
        """Main effect of every feature, shape (n, p).

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        return self.model_.effect_values(self.subject.codes(X))
