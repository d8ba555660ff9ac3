"""A model of cosines whose frequencies move, fitted in rounds."""
