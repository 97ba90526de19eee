"""The abstract interpreter: it runs programs on descriptions of tensors (device, dtype), and reports events."""
