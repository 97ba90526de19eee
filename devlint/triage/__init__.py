"""Comparison of findings with a baseline file or with a git commit, and fingerprints that identify findings."""
