"""Whether a wait of the host is the program's own, or one of a library that the program called."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import FrameType

import torch

_TORCH = Path(torch.__file__).parent
_OWN_FOLDER = str(Path(__file__).parent)
_SURFACE = frozenset({str(_TORCH), str(_TORCH / "nn" / "functional.py"), str(_TORCH / "utils" / "_python_dispatch.py")})
"""The folder of the methods of tensors and of torch's functions, and files like it elsewhere.

What waits there waits for what the program asks: a number, a text, a result whose size depends on values.
"""


def asked_by_program(frame: FrameType | None) -> bool:
    """Return whether the program itself asks for a wait that happens now: by a method of a tensor, or a torch function.

    `frame` is the innermost frame of the program. A wait inside of an optimizer, a gradient scaler or another package
    is the library's own.
    """
    inner: FrameType | None = sys._getframe(1)
    while inner is not None and inner is not frame:
        if not _passes_on(inner.f_code.co_filename):
            return False
        inner = inner.f_back
    return inner is not None


@cache
def _passes_on(filename: str) -> bool:
    """Return whether the functions of a file wait only for what their caller asks: devlint's, and the surface."""
    return filename.startswith(_OWN_FOLDER) or filename in _SURFACE or filename.rpartition("/")[0] in _SURFACE
