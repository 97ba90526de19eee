"""Modules and objects of libraries: construction and method calls by the rows of the table of torch's semantics."""
