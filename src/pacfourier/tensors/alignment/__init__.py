"""Alignment losses, their gradients and sample summaries of tensors."""
