"""The driver: starts the interpreter at the entry points of the analysed program, and assembles its parts."""
