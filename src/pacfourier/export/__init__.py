"""Fitted predictors outside of Python: C headers, integers for microcontrollers, and JSON."""

from pacfourier.export.c_source import to_c
from pacfourier.export.formula import Formula, formula, to_json
from pacfourier.export.integers import IntegerModel, integer_scores
from pacfourier.export.rounding import quantised

__all__ = [
    "Formula",
    "IntegerModel",
    "formula",
    "integer_scores",
    "quantised",
    "to_c",
    "to_json",
]
