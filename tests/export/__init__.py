"""Exports: every one must predict what the library does."""
