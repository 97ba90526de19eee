"""Model files: what devlint knows of libraries other than torch, as one data file for each library."""
