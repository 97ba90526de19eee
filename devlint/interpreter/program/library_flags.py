"""Attributes that a base class of a library sets only where the program runs on CUDA."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import libcst as cst

from devlint.interpreter.program.cuda_conditions import is_told_around
from devlint.interpreter.program.definitions import ModuleInfo

_FLAGS: Final[Mapping[str, frozenset[str]]] = {"transformers": frozenset({"model_parallel", "use_amp"})}
"""The attributes of `self` by library: `parallelize` of transformers spreads a model over CUDA devices, and its trainer
took mixed precision of `torch.cuda.amp` only for CUDA."""


def is_under_library_flag(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node runs only where such an attribute is true, which the file itself never sets.

    `path` are the nodes from the top-level statement down to the node.
    """
    flags = [one for one in _flags_of(module) if is_told_around(path, partial(_reads, one))]
    return bool(flags) and _is_in_subclass(path) and not any(_sets(module, one) for one in flags)


def _flags_of(module: ModuleInfo) -> frozenset[str]:
    """Return the attributes that count in a file, by the libraries that it imports."""
    imported = {one.module.partition(".")[0] for unit in module.index.statements for one in unit.imports}
    return frozenset[str]().union(*(flags for library, flags in _FLAGS.items() if library in imported))


def _reads(flag: str, test: cst.CSTNode) -> bool:
    """Return whether a condition is nothing but an attribute of `self`."""
    match test:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name == flag
    return False


def _is_in_subclass(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a class around a node has a base class, which may set attributes."""
    return any(isinstance(one, cst.ClassDef) and one.bases for one in path)


def _sets(module: ModuleInfo, flag: str) -> bool:
    """Return whether a file sets an attribute to anything but False."""
    return re.search(rf"\.{flag}\s*(?::[^=\n]+)?=(?!=)(?!\s*False\b)", module.source.text) is not None
