"""The automatic fixes for findings of rules: text edits at syntax nodes, which leave the rest of the file unchanged."""
