"""Self-contained HTML pages: about a fitted model, and about two of them side by side."""

from seplearn.report.build import report_html, write_comparison, write_report

__all__ = ["report_html", "write_comparison", "write_report"]
