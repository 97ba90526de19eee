"""What the text of the program says before anything is run: definitions, names, imports, uses."""
