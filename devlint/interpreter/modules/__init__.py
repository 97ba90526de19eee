"""Library modules and library objects: construction and method calls, by the rows of devlint's semantics table."""
