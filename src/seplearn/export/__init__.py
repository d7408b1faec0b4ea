"""Models for readers without this library."""
