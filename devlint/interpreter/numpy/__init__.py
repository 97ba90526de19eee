"""NumPy arrays and their like: dtypes and shared memory."""
