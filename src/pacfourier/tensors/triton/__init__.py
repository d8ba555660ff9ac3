"""Triton kernels for CUDA, and how data are laid out for them."""
