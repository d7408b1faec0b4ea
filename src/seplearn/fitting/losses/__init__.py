"""What a fit minimises: a file per loss, and one line here that makes it known."""

from seplearn.fitting.losses.base import Loss
from seplearn.fitting.losses.huber import Huber
from seplearn.fitting.losses.squared import SquaredError

LOSSES: dict[str, Loss] = {"squared_error": SquaredError(), "huber": Huber()}

__all__ = ["LOSSES", "Huber", "Loss", "SquaredError"]
