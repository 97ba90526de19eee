"""Read Python source: decoded text, top-level statements, libcst trees, positions, suppression comments, notebooks."""
