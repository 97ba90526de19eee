"""Tables of what calls to torch and other libraries do to devices and dtypes, and where each fact comes from."""
