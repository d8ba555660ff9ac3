"""Boosted frequencies of tensors: scaled columns, and the gradient of the cosine model."""
