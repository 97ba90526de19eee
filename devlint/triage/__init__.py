"""Compare findings with a baseline or with a git commit, and compute their fingerprints."""
