"""Sphinx: `make docs`. Warnings are errors, and so are links that lead nowhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import dependencies  # noqa: E402
import measured  # noqa: E402

import seplearn  # noqa: E402
from seplearn import explain  # noqa: E402

project = "seplearn"
author = "the seplearn developers"
project_copyright = author
version = release = seplearn.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_generated", "_templates", "*/*.ipynb", "*/*.py"]
templates_path = ["_templates"]
nitpicky = True

# Tables of benchmarks are pages that others include, made anew of the result files.
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
measured.write_pages(HERE / "_generated")
dependencies.write(HERE / "_generated")

autodoc_typehints = "none"  # docstrings have the types in words
autodoc_member_order = "bysource"
autosummary_generate = True
# A result and the function that makes it differ by one capital letter: not enough for a file name.
autosummary_filename_map = {
    f"seplearn.explain.{name}": f"seplearn.explain.result_{name}"
    for name in explain.__all__
    if name[0].isupper()
}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / name) for name in ("cases", "gallery")],
    "gallery_dirs": ["cases", "gallery"],
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("seplearn",),
    "image_scrapers": ("matplotlib", "scraper"),
    "within_subsection_order": "FileNameSortKey",
    "ignore_repr_types": r"matplotlib|seplearn\.plots|TSLRegressor|TSLClassifier|SepALSRegressor",
    "capture_repr": ("_repr_html_", "__repr__"),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": False,
    "only_warn_on_example_error": True,
    "plot_gallery": "True",
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"seplearn {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_math_renderer = "mathml"  # browsers draw it by themselves: no script, no network
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f3b57", "color-brand-content": "#2f6f9f"},
    "dark_css_variables": {"color-brand-primary": "#a9c7e2", "color-brand-content": "#8fbbe0"},
}


def _as_wide_as_the_page(_app: Any, doctree: nodes.document) -> None:
    """Pictures of pages get a width; those that have one are linked to the file in full size."""
    for image in doctree.findall(nodes.image):
        if not image["uri"].startswith(("gallery/", "cases/", "/gallery/", "/cases/")):
            image.setdefault("width", "100%")


def _formula(writer: Any, node: nodes.Element) -> None:
    """A formula as MathML."""
    is_block = isinstance(node, nodes.math_block)
    text = tex2mathml(node.astext(), as_block=is_block)
    writer.body.append(f'<div class="formula">{text}</div>' if is_block else text)
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """What Sphinx calls once."""
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
    app.connect("doctree-read", _as_wide_as_the_page)
