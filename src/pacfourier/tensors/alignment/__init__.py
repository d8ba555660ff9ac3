"""Alignment sums and gradients of tensors."""
