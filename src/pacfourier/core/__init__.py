"""Spectra, frequency pools, alignment sums and fused loops: arrays in, arrays out."""
