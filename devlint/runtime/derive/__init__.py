"""Derivation of the operator semantics table from the installed torch; run as ``python -m devlint.runtime.derive``."""
