"""Code that is for CUDA by design: it builds or imports CUDA kernels of its own, or captures CUDA graphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.syntax.index import Statement
from devlint.syntax.source_code import words_in

_BUILT: Final = frozenset({"CUDAExtension", "cuda_sources"})
"""Names by which code builds CUDA kernels with torch."""
_CAPTURED: Final = frozenset({"CUDAGraph", "make_graphed_callables", "graph_pool_handle"})
"""Names by which code captures CUDA graphs."""
_KERNEL_FILE: Final = re.compile(r"""\.cu["']""")
"""The end of a string with the name of a file of CUDA source code."""
_KERNEL_MODULE: Final = re.compile(r"(?:^|\.)(?:amp_C|\w+_cuda)$")
"""The name of a compiled module of CUDA kernels."""
_CONDITIONAL: Final = re.compile(r"(?:if|try|for|while|with)\b")
"""The start of a statement that does not always run what it holds."""


def needs_cuda_kernels(module: ModuleInfo) -> bool:
    """Return whether a file always builds or imports CUDA kernels, and so does not run without CUDA."""
    return any(map(_always_takes_kernels, module.index.statements))


def is_with_cuda_kernels(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether the innermost function around a node builds CUDA kernels or captures CUDA graphs.

    `path` are the nodes from the top-level statement down to the node.
    """
    function = next((one for one in reversed(path) if isinstance(one, cst.FunctionDef)), None)
    if function is None:
        return False
    return any(one in _BUILT or one in _CAPTURED or _KERNEL_FILE.search(one) for one in words_in(function))


def _always_takes_kernels(unit: Statement) -> bool:
    """Return whether a top-level statement builds or imports CUDA kernels whenever the file runs."""
    if unit.kind not in ("import", "other") or _CONDITIONAL.match(unit.text):
        return False
    if any(_KERNEL_MODULE.search(one.loads or one.module) for one in unit.imports):
        return True
    return not _BUILT.isdisjoint(unit.mentions) or _KERNEL_FILE.search(unit.text) is not None
