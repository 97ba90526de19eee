"""Models of library calls that a row of the semantics table cannot describe: one file for each part of a library."""
