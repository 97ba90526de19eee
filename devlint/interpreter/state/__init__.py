"""The state of the interpreter: frames, heap, path conditions, events and call summaries."""
