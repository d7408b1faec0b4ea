"""The command line: from a table in a file to a model, predictions and explanations."""

from seplearn.cli.main import command_line

__all__ = ["command_line"]
