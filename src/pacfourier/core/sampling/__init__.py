"""Sequential Monte Carlo, which draws frequencies from a Gibbs posterior."""
