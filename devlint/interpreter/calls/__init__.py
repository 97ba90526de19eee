"""Calls: which code a callee is, how arguments reach its parameters, and running it."""
