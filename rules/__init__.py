"""The built-in rules of devlint, one module for each rule."""
