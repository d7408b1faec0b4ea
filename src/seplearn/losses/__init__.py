"""What a fit minimises: a file per loss, and a line here that makes it known.

The words that the parameter ``loss`` takes, and its documentation, come from this table.
"""

from seplearn.losses.base import Loss
from seplearn.losses.huber import Huber
from seplearn.losses.squared_error import SquaredError

LOSSES: dict[str, Loss] = {"squared_error": SquaredError(), "huber": Huber()}

__all__ = ["LOSSES", "Huber", "Loss", "SquaredError"]
