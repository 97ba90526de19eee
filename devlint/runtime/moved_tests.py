"""What `pytest --devlint=move` places on the accelerator: what test code makes, as if the suite had moved it there.

The rules are written down in docs/runtime.md. Test code is told from the package under test by its file, in every
call stack anew, so the package itself runs as it stands: what it makes without a device stays on the host.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from devlint.runtime.call_sites import is_library, user_frame
from devlint.runtime.code_of_tests import is_test_code
from devlint.runtime.device_transfers import copy_to_device
from devlint.runtime.runtime_session import RuntimeSession
from devlint.runtime.storage_labels import Placement, label_of, placement_of

REASON = "--devlint=move"
"""What the history of a tensor names as the reason for a placement."""
_ON_BEHALF = (
    *(str(Path(torch.__file__).parent / name) + os.sep for name in ("nn", "distributions")),
    str(Path(__file__).parent) + os.sep,
    "<",
)
"""Code that makes tensors for whoever calls it, so that what it makes for a test is the test's.

That is the folders of `torch.nn` and `torch.distributions`, devlint's own, and generated functions.
"""


class MovedTests:
    """The rules of `--devlint=move` for one session: they know test code, and place what it makes and passes on.

    While `active` is False nothing is placed, but what is placed already stays where it is.
    """

    def __init__(self, session: RuntimeSession, root: Path) -> None:
        self._session = session
        self._root = str(root)
        self.device = session.devices[0]
        self.active = True
        self._on_host: dict[int, weakref.ref[torch.nn.Module]] = {}

    def default_device(self) -> torch.device | None:
        """Return the device for a tensor that is now made without naming one; None unless a test makes it.

        A test makes it if test code calls torch's function itself, or something of `torch.nn` that calls it. What other
        libraries make is theirs.
        """
        if not self.active:
            return None
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            filename = frame.f_code.co_filename
            if not is_library(filename):
                return self.device if self.is_test(frame) else None
            if not filename.startswith(_ON_BEHALF):
                return None
            frame = frame.f_back
        return None

    def place_new(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a host tensor that is just made, on the accelerator if a test makes it."""
        return tensor if self.default_device() is None else self._placed(tensor, "made by a test")

    def is_test(self, frame: FrameType | None) -> bool:
        """Return whether a frame runs test code."""
        if frame is None or is_library(frame.f_code.co_filename):
            return False
        return is_test_code(frame.f_code.co_filename, self._root)

    def brings_together(self) -> bool:
        """Return whether the innermost code of the user is a test's, where operands on different devices may meet.

        A test compares what it expects with what the package returned; neither it nor the package is wrong if only the
        mode has moved one of them.
        """
        return self.is_test(user_frame(2))

    def note_move(self, module: torch.nn.Module, device: torch.device) -> None:
        """Note that a test has moved a module to a device that it named: what is on the host by name stays there."""
        for one in module.modules():
            if device.type == "cpu":
                self._on_host[id(one)] = weakref.ref(one)
            else:
                self._on_host.pop(id(one), None)

    def stays_on_host(self, module: torch.nn.Module) -> bool:
        """Return whether a test has moved a module to the host by name, and has not moved it since."""
        known = self._on_host.get(id(module))
        return known is not None and known() is module

    def place_module(self, module: torch.nn.Module) -> None:
        """Move a module to the accelerator, by its own method `to`, without recording that as the program's doing."""
        try:
            moved = [one for one in _state(module) if not placement_of(one).key]
        except Exception:  # a module that is not complete yet may refuse to list its parameters
            return
        if not moved:
            return
        session, recorders = self._session, self._session.recorders
        session.recorders = []
        try:
            module.to(self.device)
        finally:
            session.recorders = recorders
        for one in moved:
            self._explain(one, f"moved to {self.device} with its module")

    def place(self, value: Any) -> Any:
        """Return a value with the tensors in it on the accelerator, also those in lists, tuples and dicts."""
        if isinstance(value, torch.Tensor):
            return self._placed(value, "an argument of a module")
        if isinstance(value, list | tuple) and not hasattr(value, "to"):
            parts = [self.place(part) for part in value]
            if all(new is old for new, old in zip(parts, value, strict=True)):
                return value
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        if type(value) is dict:
            placed = {key: self.place(part) for key, part in value.items()}
            return placed if any(placed[key] is not value[key] for key in value) else value
        return self._moved_by_itself(value)

    def _moved_by_itself(self, value: Any) -> Any:
        """Return what an object's own method `to` gives for the accelerator: that of a batch, a graph or a table.

        An object without such a method, or of which it gives something of another kind, stays as it is.
        """
        move = None if isinstance(value, type | torch.nn.Module) else getattr(value, "to", None)
        if not callable(move):
            return value
        session, recorders = self._session, self._session.recorders
        session.recorders = []
        try:
            moved = move(self.device)
        except Exception:  # a method `to` of something that is not moved
            return value
        finally:
            session.recorders = recorders
        return moved if type(moved) is type(value) else value

    def _placed(self, tensor: torch.Tensor, what: str) -> torch.Tensor:
        """Return a tensor on the accelerator; the tensor itself if it is there, or has no place to be moved from."""
        if tensor.is_meta or placement_of(tensor).key:
            return tensor
        session, recorders = self._session, self._session.recorders
        session.recorders = []
        try:
            out = copy_to_device(tensor, self.device)
        finally:
            session.recorders = recorders
        self._explain(out, f"moved to {self.device} as {what}")
        return out

    def _explain(self, tensor: torch.Tensor, how: str) -> None:
        """Say in the history of a tensor why the mode has moved it."""
        label = label_of(tensor)
        if label is not None and label.place.key:
            place = label.place
            label.place = Placement(place.device, f"{how} ({REASON})", place.site, place.parent)


def _state(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    """Yield the parameters and buffers of a module that have a place: those that are not yet made have none."""
    for one in (*module.parameters(), *module.buffers()):
        if not torch.nn.parameter.is_lazy(one) and not one.is_meta:
            yield one
