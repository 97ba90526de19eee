"""Static facts read off the program's syntax before anything is run: definitions, names, imports, uses of values."""
