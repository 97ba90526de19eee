"""The state of the interpreter: frames, heap, path conditions, events, and what calls have been summarised as."""
