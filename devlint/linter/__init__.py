"""The linter: from files to diagnostics, by way of the interpreter and the rules."""
