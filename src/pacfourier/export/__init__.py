"""Fitted predictors outside of Python: C headers, integers for microcontrollers, and JSON."""

from pacfourier.export.c_source import to_c
from pacfourier.export.formula import Formula, formula, to_json

__all__ = ["Formula", "formula", "to_c", "to_json"]
