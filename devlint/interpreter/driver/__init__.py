"""The driver: entry points into the program under analysis, and the assembly of the complete interpreter."""
