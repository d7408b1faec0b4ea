"""Figures of `plot()` belong to no pyplot state; the gallery collects them here."""

from __future__ import annotations

from typing import Any

from sphinx_gallery.scrapers import figure_rst

from seplearn.plots.style import Canvas

_made: list[Canvas] = []
_make = Canvas.__init__


def _remembered(self: Canvas, *args: Any, **options: Any) -> None:
    _make(self, *args, **options)
    _made.append(self)


Canvas.__init__ = _remembered  # type: ignore[method-assign]


def _scrape(_block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures that a block of an example has made, and show them."""
    paths = []
    while _made:
        path = next(block_vars["image_path_iterator"])
        _made.pop(0).savefig(path, dpi=110)
        paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])


def _get_sg_image_scraper() -> Any:
    return _scrape
