"""The complete interpreter: importing it registers every handler of syntax nodes and every model of library calls."""

from devlint.flow import attributes, calls, expressions, library, operators, statements, subscripts

__all__ = ["attributes", "calls", "expressions", "library", "operators", "statements", "subscripts"]
