"""From bytes to statements and libcst trees: sources, an index, positions, suppressions, notebooks."""
