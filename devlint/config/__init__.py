"""Read settings from configuration files and the command line, and merge them into what holds for one file."""
