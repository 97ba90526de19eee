"""Derives the table of operator semantics from the installed torch; run as ``python -m devlint.runtime.derive``."""
