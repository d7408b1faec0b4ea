"""Changes to a fitted model, each on a copy and with a record; and models made of several."""

from seplearn.editing.edit import Edit
from seplearn.editing.effect import EditEffect

__all__ = ["Edit", "EditEffect"]
