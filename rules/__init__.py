"""The rules, one file each; `devlint.registry` finds them here, and nothing names them elsewhere."""
