"""Types of which no tensor is an instance: classes of packages that know nothing of torch, and stand-ins of tensors."""

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

_STAND_INS: Final = frozenset({"torch.fx.Proxy", "torch.fx.proxy.Proxy"})
"""The classes of torch whose objects stand for tensors while code is traced, and are none."""


def has_no_tensors(name: str) -> bool:
    """Return whether a library type is surely none that a tensor is an instance of; `name` is its full dotted name."""
    return name.partition(".")[0] in _PACKAGES or name in _STAND_INS
