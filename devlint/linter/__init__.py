"""The linter, which turns files into diagnostics: it runs the abstract interpreter and the rules over them."""
