"""Fitted models outside of scikit-learn: C, integers for microcontrollers, JSON, ONNX and torch."""

from pacfourier.export.c_source import to_c
from pacfourier.export.formula import to_json
from pacfourier.export.integers import IntegerModel, integer_scores
from pacfourier.export.onnx_conversion import register_onnx, to_onnx
from pacfourier.export.rounding import quantised
from pacfourier.export.table_integers import TableIntegers, table_integers
from pacfourier.export.torch_conversion import to_torch

__all__ = [
    "IntegerModel",
    "TableIntegers",
    "integer_scores",
    "quantised",
    "register_onnx",
    "table_integers",
    "to_c",
    "to_json",
    "to_onnx",
    "to_torch",
]
