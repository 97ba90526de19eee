"""Transfer functions for NumPy arrays: dtypes, shared memory, and tensors that NumPy reads on the host."""
