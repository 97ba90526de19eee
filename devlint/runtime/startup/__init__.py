"""The start-up file of child processes, in a folder of its own so that `PYTHONPATH` can name it."""
