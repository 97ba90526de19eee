"""Conditions: comparisons, instance checks, and what is known on the path on which one holds."""
