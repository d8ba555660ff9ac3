"""Models of whole tables: from a file with text, dates and gaps to predictions and certificates."""
