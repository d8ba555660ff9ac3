"""A model of cosines that learns its frequencies in rounds."""
