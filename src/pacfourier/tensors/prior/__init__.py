"""Bandwidths from tensors."""
