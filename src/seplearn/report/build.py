"""From a fitted model to the page: contents as JSON, template, styles and scripts in one file."""

from __future__ import annotations

import html
import json
import os
import re
from importlib.resources import files
from typing import Any

from seplearn._errors import wrong_type
from seplearn._files import check_target, replaced
from seplearn.explain.compare import Comparison, compare, tables_of_both
from seplearn.explain.stability import Stability
from seplearn.explain.subject import Subject
from seplearn.report.comparison import comparison_content
from seplearn.report.content import page_content
from seplearn.report.provenance import told_provenance

_SCRIPTS = (
    "model.js",
    "dom.js",
    "charts.js",
    "quality.js",
    "story.js",
    "curves.js",
    "cards.js",
    "shapley.js",
    "changes.js",
    "outcomes.js",
    "trust.js",
    "whatif.js",
    "theme.js",
    "start.js",
)
_COMPARISON_SCRIPTS = ("model.js", "dom.js", "charts.js", "theme.js", "compare.js")


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    offset: Any = None,
    title: str | None = None,
    n_rows: int = 200,
    random_state: int = 0,
    by: str | None = None,
    stability: Stability | None = None,
) -> None:
    """Write a page that opens in any browser, from disk and offline.

    The page holds the whole model: whoever has it can read every curve, and recompute every
    prediction in the what-if panel. With ``X`` it also holds up to ``n_rows`` of its rows, as they
    are.

    Parameters
    ----------
    model : TSLRegressor, TSLClassifier or SepALSRegressor
        Fitted, or loaded from a file.
    path : str or path
        Where to; written beside its place first and then moved there.
    X : table, optional
        Rows to start the what-if panel from; sizes are taken over them if there are at least a
        hundred. By default the reference rows that the model keeps, which are known to the bin
        only.
    y : array-like of shape (n,), optional
        The target of these rows, NaN where it is not known, for errors and calibration: rows that
        the model was not fitted to, if they are to mean anything. By default what
        ``evaluate(..., keep=True)`` remembered.
    offset : array-like of shape (n,), optional
        Of these rows, for a model that was fitted with offsets. Errors are then those of
        predictions with them; the what-if panel predicts without.
    title : str, optional
        By default made of the target's name.
    n_rows : int
        Rows in the page at most, drawn at random.
    random_state : int
        Seed of the draw.
    by : str, optional
        A column of ``X``, which the model need not know: the page tells errors, mean predictions
        and mean outcomes of its groups. Needs ``y``; not for more than two classes.
    stability : Stability, optional
        What :func:`seplearn.explain.stability` found: which statements depend on the seed or on the
        rows. It takes many fits, and the training rows, so the page does not look for itself.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from seplearn import TSLRegressor, datasets, report
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X[:500], y[:500])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "report.html"
    ...     report.write_report(model, page, X[500:], y[500:])
    ...     "</html>" in page.read_text(encoding="utf-8")
    True
    """
    check_target(path)
    text = report_html(
        model, X, y, offset=offset, title=title, n_rows=n_rows, random_state=random_state, by=by,
        stability=stability,
    )  # fmt: skip
    with replaced(path) as file:
        file.write(text.encode("utf-8"))


def report_html(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    offset: Any = None,
    title: str | None = None,
    n_rows: int = 200,
    random_state: int = 0,
    by: str | None = None,
    stability: Stability | None = None,
) -> str:
    """The page that :func:`write_report` writes, as text.

    Parameters
    ----------
    model, X, y, offset, title, n_rows, random_state, by, stability
        As in :func:`write_report`.

    Returns
    -------
    str
        HTML with all that it needs.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, report
    >>> X, y = datasets.rents(300, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> report.report_html(model, title="Rents", n_rows=10).count("<title>Rents")
    1
    """
    _check_title(title)
    content = page_content(model, X, y, offset, title, n_rows, random_state, by, stability)
    return _page("page.html", content, _SCRIPTS, {"origin": _origin(model)})


def write_comparison(
    first: Any,
    second: Any,
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    offset: Any = None,
    models: tuple[str, str] = ("the first model", "the second model"),
    title: str | None = None,
) -> Comparison:
    """Write a page that shows two models side by side; it opens from disk and offline.

    It holds what :func:`seplearn.explain.compare` says, the curves of both models overlaid, and up
    to a thousand predictions; of the ten rows that differ most it has the values, as they are.

    Parameters
    ----------
    first, second : TSLRegressor, TSLClassifier or SepALSRegressor
        Fitted, or loaded from files.
    path : str or path
        Where to; written beside its place first and then moved there.
    X : table, or a tuple of two
        Rows that neither model was fitted to, with the columns of both; a tuple has a table of
        these rows for each model.
    y : array-like of shape (n,), optional
        The target of these rows, NaN where it is not known.
    offset : array-like of shape (n,), or a tuple of two, optional
        Of these rows, for errors of models that were fitted with offsets; a tuple has one for each
        model.
    models : pair of str
        What to call them.
    title : str, optional
        By default made of their names.

    Returns
    -------
    Comparison
        What the page shows.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from seplearn import TSLRegressor, datasets, report
    >>> X, y = datasets.rents(600, random_state=0)
    >>> small, large = (TSLRegressor(n, random_state=0).fit(X[:500], y[:500]) for n in (1, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "diff.html"
    ...     comparison = report.write_comparison(small, large, page, X[500:], y[500:])
    ...     "</html>" in page.read_text(encoding="utf-8")
    True
    """
    check_target(path)
    _check_title(title)
    comparison = compare(first, second, X, y, offset=offset, models=models)
    own, _ = tables_of_both(X)
    content = comparison_content(comparison, Subject.of(first), own, title)
    text = _page("compare.html", content, _COMPARISON_SCRIPTS)
    with replaced(path) as file:
        file.write(text.encode("utf-8"))
    return comparison


def _page(
    template: str,
    content: dict[str, Any],
    names: tuple[str, ...],
    texts: dict[str, str] | None = None,
) -> str:
    """Contents, styles and scripts in one file, and texts for places of the template's own."""
    scripts = "\n".join(_asset(name) for name in names)
    filled = {
        "title": _escaped(content["title"]),
        "style": _asset("page.css"),
        "data": _as_script_text(content),
        "script": scripts,
        **(texts or {}),
    }
    # In one pass: what is filled in is not searched for further places.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], _asset(template))


def _origin(model: Any) -> str:
    """Where the model comes from: a list of terms, all of it as text."""
    return "\n".join(
        f"<dt>{_escaped(what)}</dt>\n<dd>{_escaped(text)}</dd>"
        for what, text in told_provenance(model)
    )


def _check_title(title: Any) -> None:
    if title is not None and not isinstance(title, str):
        raise wrong_type("title", "a text", title)


def _escaped(text: str) -> str:
    """A text as HTML shows it; half a character, as of a file's name, has no bytes in a page."""
    return html.escape(re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text))


def _asset(name: str) -> str:
    return (files("seplearn.report") / "page" / name).read_text(encoding="utf-8")


def _as_script_text(content: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in, whatever names and levels hold."""
    try:
        text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise ValueError(
            "the page cannot be made: the model has curves whose products are beyond the largest "
            "number; if y is that large, fit it in another unit"
        ) from error
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
