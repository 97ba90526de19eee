"""The settings of the program."""

DEVICE = "cuda"
WIDTH = 6
