"""Patches by which backends answer that they are not there, as on a machine whose torch was built without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.backends import BACKENDS, Backend

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher


def install(present: str | None, patcher: Patcher) -> None:
    """Make the module of every backend but one say that it has no devices; None leaves none.

    On a machine that has none this changes no answer. On one that has them, a program must not use them while another
    kind of device is emulated.
    """
    for backend in BACKENDS.values():
        if backend.kind != present:
            _hide(backend, patcher)
    if present is None and hasattr(torch, "accelerator"):
        nothing = {**_no_devices(), "current_accelerator": lambda check_available=False: None}
        _replace_known(patcher, torch.accelerator, nothing)


def _hide(backend: Backend, patcher: Patcher) -> None:
    """Make the module of one backend, and its flags in `torch.backends`, say that there is none."""

    def initialize() -> None:
        raise torch_errors.absent_backend(backend)

    module = getattr(torch, backend.kind, None)
    if module is not None:
        _replace_known(patcher, module, {**_no_devices(), "_is_compiled": lambda: False, "_lazy_init": initialize})
    flags = getattr(torch.backends, backend.kind, None)
    if flags is not None:
        _replace_known(patcher, flags, {"is_available": lambda: False, "is_built": lambda: False})
    if hasattr(torch.version, backend.kind):
        patcher.replace(torch.version, backend.kind, None)


def _no_devices() -> dict[str, Any]:
    """Return the functions of a module of devices that has none, by name."""
    return {"is_available": lambda: False, "device_count": lambda: 0}


def _replace_known(patcher: Patcher, module: Any, values: dict[str, Any]) -> None:
    """Replace those of the named attributes that a module has."""
    for name, value in values.items():
        if hasattr(module, name):
            patcher.replace(module, name, value)
