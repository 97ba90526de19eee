"""The linter, which turns files into diagnostics: it interprets the files abstractly and passes events to the rules."""
