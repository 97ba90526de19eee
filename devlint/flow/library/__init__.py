"""What library calls mean where a row of the table cannot say it: one file for each part of the libraries."""

from devlint.flow.library import collections, devices, loading, modules, python, tensors, training

__all__ = ["collections", "devices", "loading", "modules", "python", "tensors", "training"]
