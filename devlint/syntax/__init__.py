"""Reading of Python source: decoded text, top-level statements, libcst trees, positions, suppressions, notebooks."""
