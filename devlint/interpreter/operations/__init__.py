"""Transfer functions for tensor operations: device and dtype of results, conflicts, aliasing, synchronisation."""
