"""Entry points into the program, and the assembly of the complete interpreter."""
