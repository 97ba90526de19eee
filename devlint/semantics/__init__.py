"""What torch and other libraries do to devices and dtypes, as data: rows of a table, and who says so."""
