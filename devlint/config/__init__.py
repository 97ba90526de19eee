"""Settings: from files, the environment and the command line to what holds for one file."""
