"""The runtime companion: watch a program on real devices, or run it on emulated ones. Only this part needs torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devlint.runtime.context_managers import emulate, record
    from devlint.runtime.not_emulated import NotEmulated
    from devlint.runtime.recording_report import Report

__all__ = ["NotEmulated", "Report", "emulate", "record"]

_HOMES = {
    "emulate": "context_managers",
    "record": "context_managers",
    "Report": "recording_report",
    "NotEmulated": "not_emulated",
}


def __getattr__(name: str) -> Any:
    """Import torch only when something that needs it is asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"devlint.runtime.{home}"), name)
