"""The handlers of Python's syntax: the effect of each kind of statement and expression on the abstract state."""
