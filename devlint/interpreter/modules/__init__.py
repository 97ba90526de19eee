"""Modules and objects of libraries: how they are made and what their methods do, by the rows of the table."""
