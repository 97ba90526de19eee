"""Semantics tables: what calls to torch and other libraries do to devices and dtypes, and how each fact was found."""
