"""Thin scikit-learn shells over the core: one public estimator a file."""
