"""Calls: the dispatch on the kind of callee, the binding of arguments, and the execution of functions."""
