"""Texts of devlint's findings: phrases for expressions, devices and dtypes, and suggested replacement code."""
