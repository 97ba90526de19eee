"""Reports of the shards of a run: they are read, and written as the one report of the whole run."""
