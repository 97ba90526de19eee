"""The state of the interpreter: frames, heaps, path conditions, events for the rules, and call summaries."""
