"""The abstract interpreter: it runs programs on placements instead of data, and reports events."""
