"""What a test says about the path on which it holds: comparisons, instance checks, refinement."""
