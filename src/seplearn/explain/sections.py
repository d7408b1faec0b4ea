"""Sentences below headings, as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable


def in_lines(sections: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """A heading and a list below it each; what has no heading are paragraphs.

    Examples
    --------
    >>> print(in_lines([("", ("All is well.",)), ("Not used", ("area.", "rooms."))]))
    All is well.
    <BLANKLINE>
    Not used:
    - area.
    - rooms.
    """
    parts = []
    for heading, sentences in sections:
        lines = [f"- {line}" for line in sentences] if heading else list(sentences)
        parts.append("\n".join([f"{heading}:", *lines] if heading else lines))
    return "\n\n".join(parts)


def in_html(sections: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """The same for a page.

    Examples
    --------
    >>> in_html([("Not used", ("a < b.",))])
    '<div><p><b>Not used</b></p><ul><li>a &lt; b.</li></ul></div>'
    """
    parts = []
    for heading, sentences in sections:
        told = [html.escape(sentence) for sentence in sentences]
        if heading:
            parts.append(f"<p><b>{html.escape(heading)}</b></p>")
            parts.append("<ul>" + "".join(f"<li>{one}</li>" for one in told) + "</ul>")
        else:
            parts += [f"<p>{one}</p>" for one in told]
    return "<div>" + "".join(parts) + "</div>"
