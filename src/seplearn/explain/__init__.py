"""Explanations: a fitted model in, frozen results out; each is exact for the model."""

from seplearn.explain.curves import Curve, curves

__all__ = ["Curve", "curves"]
