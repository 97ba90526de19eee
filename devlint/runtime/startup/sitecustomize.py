"""Start-up file of child processes: emulates the parent's accelerators as soon as the child imports torch.

Python imports the first `sitecustomize` that it finds when it starts. `patches.child_processes` puts the folder of this
file at the front of `PYTHONPATH`. The file that it hides from Python, if there is one, is run too.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

_VARIABLE = "DEVLINT_EMULATE"
_FOLDER = Path(__file__).resolve().parent


def _requested() -> tuple[str, int]:
    """Return the device type and the number of devices to emulate; 0 devices if this process is not to see any.

    As on a real machine, `CUDA_VISIBLE_DEVICES` hides devices.
    """
    kind, _, number = os.environ.get(_VARIABLE, "").partition(":")
    count = int(number or 0)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if kind == "cuda" and visible is not None:
        named = visible.split(",")
        count = min(count, next((place for place, name in enumerate(named) if name.strip() in ("", "-1")), len(named)))
    return kind, count


def _emulate() -> None:
    """Start to emulate in this process, for good; say on standard error why if that cannot be done."""
    kind, count = _requested()
    if not count:
        return
    try:
        if importlib.util.find_spec("devlint") is None:
            sys.path.append(str(_FOLDER.parents[2]))
        start = importlib.import_module("devlint.runtime.record_and_emulate").emulate
        context = start(count, kind)
        context.__enter__()
    except Exception as error:
        print(f"devlint: process {os.getpid()} does not see the emulated device: {error}", file=sys.stderr)  # noqa: T201
    else:
        _contexts.append(context)


_contexts: list[Any] = []
"""The open context of the emulation. If it were collected, it would end."""


class _AfterTorch:
    """Finder and loader that lets the usual ones import torch, and emulates afterwards."""

    def __init__(self) -> None:
        self._loader: Any = None

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """Return the spec of torch with this object as its loader; None for any other module."""
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self._loader = spec.loader
            spec.loader = self  # type: ignore[assignment]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Return the module that the usual loader creates."""
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        """Run torch as the usual loader does, then start to emulate."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _emulate()


def _run_hidden_file() -> None:
    """Run the `sitecustomize` that Python would have imported if this file were not there."""
    others = [path for path in sys.path if Path(path or ".").resolve() != _FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if _VARIABLE in os.environ:
    sys.meta_path.insert(0, _AfterTorch())
_run_hidden_file()
