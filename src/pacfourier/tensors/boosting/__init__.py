"""The cosine model on tensors."""
