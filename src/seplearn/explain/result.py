"""What every explanation can do: become a data frame, become a figure."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from seplearn.table.columns import make_frame

_LONGEST_VALUE = 60
_MOST_ROWS = 40  # of a printed frame


_BESIDE = ("library", "quantity")  # not worth showing among the numbers


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Numbers first: attributes and :meth:`frame`; then :meth:`plot`.

    ``quantity`` is what the numbers are of: the prediction, or its log, or the log-odds of a class.
    """

    library: str | None = field(default=None, kw_only=True)
    quantity: str = field(default="prediction", kw_only=True)
    _figure: ClassVar[str]

    def _columns(self) -> dict[str, Any]:
        """The columns of :meth:`frame`."""
        raise NotImplementedError

    def frame(self) -> Any:
        """The numbers as a data frame, in the library of the training table.

        A model that was fitted to an array answers in pandas, polars or pyarrow, whichever is
        installed first in this order.
        """
        return make_frame(self._columns(), self.library)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw it; needs matplotlib. ``options`` are those of its function in ``seplearn.plots``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Without it a new figure is made, outside pyplot's state.

        Returns
        -------
        matplotlib Axes or Figure
            The Axes given, or the new Figure; ``figure.savefig(path)`` works without a display.
        """
        # Figures are a layer above numbers, and matplotlib is optional: found by name, when asked.
        try:
            plots = importlib.import_module("seplearn.plots")
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("matplotlib"):
                raise
            message = "plot() needs matplotlib: pip install 'seplearn[plots]'"
            raise ModuleNotFoundError(message, name=error.name) from error
        return getattr(plots, self._figure)(self, ax=ax, **options)

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the figure, if there is matplotlib, and the data frame."""
        parts = [self._words_html(), self._figure_html(), self._frame_html()]
        return "\n".join(part for part in parts if part) or None

    def _words_html(self) -> str:
        """What is said in words before the figure; nothing, for most."""
        return ""

    def _figure_html(self) -> str:
        """The figure as a picture; nothing where it cannot be drawn."""
        try:
            drawn = self.plot()._repr_png_()
        except (ImportError, ValueError):
            return ""
        picture = base64.b64encode(drawn).decode("ascii")
        source, style = f"data:image/png;base64,{picture}", "max-width: 100%; background: white"
        return f'<img alt="{type(self).__name__}" style="{style}" src="{source}">'

    def _frame_html(self) -> str:
        """The data frame, if there is one that can be shown."""
        try:
            frame = self.frame()
        except (ImportError, ValueError):
            return ""
        shown = getattr(frame, "_repr_html_", None)
        return "" if shown is None else str(shown())

    def __str__(self) -> str:
        """The data frame, which is what somebody who prints numbers wants to see."""
        try:
            return _whole_text(self.frame())
        except (ImportError, ValueError):
            return repr(self)

    def __repr__(self) -> str:
        shown = ((f.name, getattr(self, f.name)) for f in fields(self) if f.name not in _BESIDE)
        return f"{type(self).__name__}({', '.join(f'{n}={_brief(v)}' for n, v in shown)})"


def _whole_text(frame: Any) -> str:
    """A data frame with all its columns; pandas leaves out those in the middle of a wide one."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return str(frame)
    text: str = frame.to_string(index=False, max_rows=_MOST_ROWS, na_rep="")
    return text


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<array {value.shape}>"
    if isinstance(value, (tuple, list, Mapping)):
        plain = all(isinstance(item, (str, int, float)) for item in value)
        if isinstance(value, Mapping) or not plain or len(repr(value)) > _LONGEST_VALUE:
            return f"<{len(value)} items>"
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"<{type(value).__name__}>"


def distinct_names(names: Iterable[str], taken: Container[str]) -> list[str]:
    """Names of columns beside those that a frame has already: none is lost to another."""
    given = list(names)
    out: list[str] = []
    for name in given:
        others = {other for other in given if other != name}
        new = name
        while new in taken or new in out or (new != name and new in others):
            new += " (value)"
        out.append(new)
    return out


def band_of(values: list[Any], level: float) -> Any:
    """The lower and upper end of the central share ``level`` of replicates, or None."""
    if not values:
        return None
    return np.quantile(values, (0.5 - 0.5 * level, 0.5 + 0.5 * level), axis=0)
