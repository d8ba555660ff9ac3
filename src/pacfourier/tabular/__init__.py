"""Learn from a table of your own: read it, decide what its columns hold, and write predictions."""
