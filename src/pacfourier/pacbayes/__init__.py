"""Divergences and posteriors: numbers in, numbers out; never sees data."""
