"""What a fit minimises: a file per loss, and a line here that makes it known.

The words that the parameter ``loss`` takes, and its documentation, come from this table.
"""

from seplearn.losses.base import Loss
from seplearn.losses.huber import Huber
from seplearn.losses.links import IDENTITY, LINKS, Link
from seplearn.losses.log_loss import ClassLogLoss, LogLoss
from seplearn.losses.power import Gamma, Poisson, Tweedie
from seplearn.losses.quantile import Quantile
from seplearn.losses.squared_error import SquaredError

# Of numbers, as the parameter ``loss`` names them.
LOSSES: dict[str, Loss] = {
    "squared_error": SquaredError(),
    "huber": Huber(),
    "poisson": Poisson(),
    "gamma": Gamma(),
    "tweedie": Tweedie(),
    "quantile": Quantile(),
}

# Parameters that shape a single loss, and which one.
SHAPES = {"quantile": "quantile", "power": "tweedie"}

__all__ = [
    "IDENTITY",
    "LINKS",
    "LOSSES",
    "SHAPES",
    "ClassLogLoss",
    "Huber",
    "Link",
    "LogLoss",
    "Loss",
    "SquaredError",
]
