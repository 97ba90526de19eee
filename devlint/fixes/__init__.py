"""The automatic fixes of rules: text edits around syntax nodes that keep every other character of the file."""
