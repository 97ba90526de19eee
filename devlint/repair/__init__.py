"""Application of fixes to files in rounds, each checked by a new analysis; files are written after the last round."""
