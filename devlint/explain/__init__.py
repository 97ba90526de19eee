"""Texts of findings: places, devices, conflicts, dtypes and suggested replacements."""
