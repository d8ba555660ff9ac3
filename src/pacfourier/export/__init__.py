"""Export of fitted estimators: ONNX graphs and torch modules."""

from pacfourier.export.onnx_conversion import register_onnx, to_onnx

__all__ = ["register_onnx", "to_onnx"]
