"""What devlint knows of libraries other than torch: data files, one for each library, in the form of the table."""
