"""Conditions of branches: comparisons, instance checks, and the narrowing of values on the path a condition selects."""
