"""The scikit-learn estimators: they validate what they are given, fit, and store the model."""
