"""Compiled functions: arrays in, arrays out. They import nothing of the package but each other."""
