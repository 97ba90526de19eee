"""Environment variables that the program sets: one of CUDA's hides its devices."""

from __future__ import annotations

from typing import Final

from devlint.domain.availability import is_available
from devlint.domain.path_conditions import entails
from devlint.domain.value import Const, LibraryName, Value
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.frame import Frame

ENVIRONMENT: Final = LibraryName("os.environ")
"""The mapping of the environment variables."""

_NO_DEVICE: Final = (Const(""), Const("-1"))
"""The values of `CUDA_VISIBLE_DEVICES` with which CUDA shows no device."""


def set_variable(frame: Frame, name: Argument | None, value: Value) -> None:
    """Store a value under a name in `os.environ`: `CUDA_VISIBLE_DEVICES = ""` says that CUDA is not available.

    Where the program has asked before whether it is, the answer stays what it was.
    """
    if name is None or name.value != Const("CUDA_VISIBLE_DEVICES") or value not in _NO_DEVICE:
        return
    available = is_available("cuda")
    if entails(frame.state.path_condition, available) is None:
        frame.state.assume(~available)
