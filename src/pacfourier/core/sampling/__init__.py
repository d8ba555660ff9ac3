"""Sequential Monte Carlo over frequencies."""
