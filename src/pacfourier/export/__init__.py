"""Export of fitted estimators: ONNX graphs and torch modules."""

from pacfourier.export.onnx_conversion import register_onnx, to_onnx
from pacfourier.export.torch_conversion import from_torch, to_torch

__all__ = ["from_torch", "register_onnx", "to_onnx", "to_torch"]
