"""Attacks on the library. ``python -m benchmarks.torture --help`` says how to run them."""

from benchmarks.torture import (
    clusters,
    kills,
    maps,
    model_files,
    predictors,
    processes,
    tables,
)
from benchmarks.torture.attacks import ATTACKS

__all__ = [
    "ATTACKS",
    "clusters",
    "kills",
    "maps",
    "model_files",
    "predictors",
    "processes",
    "tables",
]
