"""The runtime companion: watch a program on real devices, or run it on emulated ones. Only this part needs torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devlint.runtime.api import emulate, record
    from devlint.runtime.errors import NotEmulated
    from devlint.runtime.report import Report

__all__ = ["NotEmulated", "Report", "emulate", "record"]

_HOMES = {"emulate": "api", "record": "api", "Report": "report", "NotEmulated": "errors"}


def __getattr__(name: str) -> Any:
    """Import torch only when something that needs it is asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"devlint.runtime.{home}"), name)
