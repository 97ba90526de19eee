"""One path through the code: its run, its state, its heap."""
