"""What library calls mean where a row of the table cannot say it: one file for each part of a library."""
