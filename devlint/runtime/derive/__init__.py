"""Derivation of devlint's semantics table from the installed torch; run as ``python -m devlint.runtime.derive``.

The semantics table has one row for each public torch callable. The row says what the callable does to the devices and
dtypes of tensors.
"""
