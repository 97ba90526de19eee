"""Findings in words: places, devices, conflicts, dtypes and what to write instead."""
