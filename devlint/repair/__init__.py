"""Applies fixes to files: in rounds, each checked by a new analysis, and written only when all is well."""
