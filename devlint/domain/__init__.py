"""The abstract domain: abstract values for devices, dtypes, tensors and objects. Imports neither libcst nor torch."""
