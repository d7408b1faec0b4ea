"""Files and programs in which a fitted model leaves the library."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from seplearn._errors import out_of_range, warn, wrong_type
from seplearn._params import check_parameters
from seplearn._rules import Flag, is_real, is_whole
from seplearn.estimators.fitted import FittedModel
from seplearn.export.json import to_plain
from seplearn.export.onnx import PRECISIONS, to_onnx
from seplearn.export.scorecard import Scorecard, to_scorecard
from seplearn.export.source import LANGUAGES, to_source
from seplearn.export.sql import DIALECT_NAMES, to_sql
from seplearn.model.format import StoredModel, write_file


class ExportedModel(FittedModel):
    """One that can be written: as a file, JSON, source code, SQL, ONNX or a scorecard."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file; :func:`seplearn.load_model` reads it.

        The file is written beside its place and then moved there, so an interrupted save leaves
        no half-written file.

        Parameters
        ----------
        path : str or path
            Conventionally ending in ``.tsl``.
        """
        check_is_fitted(self)
        params = self._loss_parameters
        check_parameters(self._parameters, params)  # they may have been set after the fit
        history = tuple(self.history_)
        stored = StoredModel(
            self.model_,
            self._schema,
            history,
            self._stored_parameters(params),
            self._kind,
            self.evaluation_,
            getattr(self, "classes_", None),
            self.provenance_,
        )
        write_file(path, stored)

    def _stored_parameters(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters as a file is to have them."""
        return params

    def to_dict(self) -> dict[str, Any]:
        """The model as plain numbers and lists for ``json.dump``; see ``docs/model-json.md``.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> plain = model.to_dict()
        >>> plain["version"], plain["link"], len(plain["sums"][0]["stages"])
        (4, 'identity', 1)
        """
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        return to_plain(self.model_, self._schema, None if classes is None else classes.tolist())

    def to_source(self, language: str, *, explain: bool = False) -> str:
        """The source of a program that predicts as this model does, and needs nothing else.

        It has a function ``predict`` for a row: in Python a mapping of names to values, in
        JavaScript an object (the source is a module), in C (C99) a ``struct row``. Of a classifier
        it gives the class, and ``predict_proba`` (``predictProba``) the probabilities. It takes an
        offset as well, but for more than two classes. A value may be missing: None, null, NaN,
        NULL.

        Parameters
        ----------
        language : {"python", "c", "javascript"}
        explain : bool
            Add a function ``explain`` that gives the parts of the sum: main effects and stages; of
            more than two classes those of each.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> program = {}
        >>> exec(model.to_source("python"), program)
        >>> row = {"x0": 0.1, "x1": -0.2, "x2": None}
        >>> expected = model.predict([[0.1, -0.2, float("nan")]])[0]
        >>> bool(abs(program["predict"](row) - expected) < 1e-9)
        True
        """
        LANGUAGES.check("language", language)
        Flag().check("explain", explain)
        return to_source(self.to_dict(), language, explain)

    def to_sql(
        self,
        table: str | Sequence[str] = "t",
        dialect: str = "duckdb",
        *,
        explain: bool = False,
        keep: Sequence[str] = (),
    ) -> str:
        """One SELECT that predicts every row of a table of a database.

        Its column ``prediction`` is what ``predict`` gives; of a classifier there is a column
        ``probability of ...`` for every class too. NULL is a missing value, and so is NaN. Levels
        are compared as texts. Where the model knows the column of its offsets, that is added.

        Parameters
        ----------
        table : str or sequence of str
            The table, or schema and table.
        dialect : {"duckdb", "postgresql", "sqlite", "bigquery", "standard"}
        explain : bool
            Add columns for the constant, every main effect and every stage; with a link the
            column ``sum`` is what they add up to. Of more than two classes there are those of each,
            with the label at the end of their names.
        keep : sequence of str
            Columns of the table to copy, such as an identifier.

        Examples
        --------
        >>> import sqlite3
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> database = sqlite3.connect(":memory:")
        >>> _ = X.to_sql("points", database, index=False)
        >>> rows = database.execute(model.to_sql("points", "sqlite")).fetchall()
        >>> bool(abs(rows[0][0] - model.predict(X)[0]) < 1e-9)
        True
        """
        DIALECT_NAMES.check("dialect", dialect)
        Flag().check("explain", explain)
        self._warn_without_offset_column()
        return to_sql(self.to_dict(), table, dialect, explain, keep)

    def to_onnx(
        self, *, precision: str = "double", explain: bool = False, missing_level: str = ""
    ) -> Any:
        """The model as an ONNX graph; needs the package ``onnx``.

        An input of shape (rows, 1) per feature, by its name: numbers, NaN where they are missing,
        or texts for levels. Where the model knows the column of its offsets, that is an input too.
        The output is ``prediction``, of a classifier ``label`` and ``probabilities``.

        Parameters
        ----------
        precision : {"double", "float"}
            Of the inputs and outputs; inside it is double.
        explain : bool
            Add an output ``contributions``: the constant, every main effect and every stage, whose
            names are in the metadata of the model, as JSON. They add up to the sum, of more than
            two classes to the score of the class that a name ends with.
        missing_level : str
            The text that says that a level is missing; ONNX has no missing texts.

        Returns
        -------
        onnx.ModelProto

        Examples
        --------
        >>> import numpy as np
        >>> import onnxruntime  # doctest: +SKIP
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> graph = model.to_onnx().SerializeToString()  # doctest: +SKIP
        >>> session = onnxruntime.InferenceSession(graph)  # doctest: +SKIP
        >>> columns = {f"x{j}": X[:, [j]] for j in range(3)}
        >>> (found,) = session.run(None, columns)  # doctest: +SKIP
        >>> bool(np.allclose(found[:, 0], model.predict(X)))  # doctest: +SKIP
        True
        """
        PRECISIONS.check("precision", precision)
        Flag().check("explain", explain)
        if not isinstance(missing_level, str):
            raise wrong_type("missing_level", "a text", missing_level)
        self._warn_without_offset_column()
        return to_onnx(self.to_dict(), precision, explain, missing_level)

    def to_scorecard(self, *, scale: float = 1.0, digits: int | None = None) -> Scorecard:
        """The model as a table of points to add up, if it is such a model.

        It is one if every feature acts by itself, or if it is a single positive product beside the
        constant, whose log the points then add up to. Any other model is refused, and so is one of
        more than two classes. A fit with ``n_stages=0`` has main effects alone.

        Parameters
        ----------
        scale : float
            Points per unit of the sum; ``20 / math.log(2)`` makes 20 points double the odds, and
            ``-20 / math.log(2)`` halve them: many points are then few of the outcome.
        digits : int, optional
            Decimals that points are rounded to; neighbouring ranges with the same points are one.
            Without it points are exact.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.rents(600, random_state=0)
        >>> model = TSLRegressor(random_state=0).fit(X[["area"]], y)
        >>> card = model.to_scorecard()
        >>> list(card.frame().columns)
        ['feature', 'meaning', 'range', 'lower', 'upper', 'points']
        """
        rule = "a finite number other than 0"
        if not is_real(scale):
            raise wrong_type("scale", rule, scale)
        if scale == 0 or not math.isfinite(scale):
            raise out_of_range("scale", rule, scale)
        if digits is not None and not is_whole(digits):
            raise wrong_type("digits", "None or an integer", digits)
        check_is_fitted(self)
        library = self._schema.library
        return to_scorecard(self.to_dict(), float(scale), digits, library)

    def _warn_without_offset_column(self) -> None:
        """Before the model is written for tables, in which offsets are a column."""
        if self._had_offsets and self.offset_column_ is None:
            warn(
                "the model was fitted with offsets, and does not know which column they are: what "
                "is written predicts without them (fit_files and the command line name it)"
            )
