"""How a rule mends what it has found: edits of the text around the nodes it knows, every other character kept."""
