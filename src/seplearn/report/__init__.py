"""One self-contained HTML page about a fitted model: how good it is, what it says, and what if."""

from seplearn.report.build import report_html, write_report

__all__ = ["report_html", "write_report"]
