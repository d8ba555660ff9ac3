"""Posteriors, and certificates of what was learned. Nothing here reads data."""
