"""Measurements against rivals and against the paper. Not part of the package."""
