"""The alignment loss of frequencies with labels: sums, losses and gradients."""
