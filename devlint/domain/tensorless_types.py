"""Types of which no tensor is an instance: the classes of packages that know nothing of torch."""

from __future__ import annotations

import sys
from typing import Final

_ABSTRACT_MODULES: Final = frozenset({"abc", "builtins", "collections", "numbers", "types", "typing"})
"""The standard modules with protocols and base classes that a tensor may fulfil, such as `collections.abc.Sized`."""

_PACKAGES: Final = (sys.stdlib_module_names - _ABSTRACT_MODULES) | {
    "PIL",
    "cv2",
    "h5py",
    "matplotlib",
    "networkx",
    "numpy",
    "omegaconf",
    "pandas",
    "scipy",
    "sklearn",
    "xarray",
}
"""The top-level packages none of whose classes is a class of torch tensors."""


def has_no_tensors(name: str) -> bool:
    """Return whether a library type is surely none that a tensor is an instance of; `name` is its full dotted name."""
    return name.partition(".")[0] in _PACKAGES
