"""The prior: candidate frequencies, and rules of thumb for their bandwidth."""
