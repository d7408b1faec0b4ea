"""A model as one SELECT, for several databases."""

from seplearn.export.sql.dialects import DIALECT_NAMES
from seplearn.export.sql.select import RESULT_BEGINNINGS, RESULT_NAMES, to_sql

__all__ = ["DIALECT_NAMES", "RESULT_BEGINNINGS", "RESULT_NAMES", "to_sql"]
