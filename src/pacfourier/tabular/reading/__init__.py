"""Tables of any format, read block by block."""
