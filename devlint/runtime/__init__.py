"""Runtime part of devlint, which needs torch: run a program on emulated devices, or record one on real devices."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devlint.runtime.not_emulated import NotEmulated
    from devlint.runtime.record_and_emulate import emulate, record
    from devlint.runtime.recording_report import Report

__all__ = ["NotEmulated", "Report", "emulate", "record"]
"""The public names of the package; each is imported when it is first used, because most of them import torch."""

_HOMES = {
    "emulate": "record_and_emulate",
    "record": "record_and_emulate",
    "Report": "recording_report",
    "NotEmulated": "not_emulated",
}
"""The module of each public name."""


def __getattr__(name: str) -> Any:
    """Return a public name of `devlint.runtime`, whose module is imported only now, when the name is first used.

    So `import devlint.runtime` does not import torch. Any other name raises AttributeError.
    """
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"devlint.runtime.{home}"), name)
