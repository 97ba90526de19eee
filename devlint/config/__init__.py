"""Configuration of devlint: read settings from files and from the command line, and merge them for each directory."""
