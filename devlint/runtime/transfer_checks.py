"""Wasteful or risky habits that show when a transfer happens: what is moved, where from, and how often."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import torch

from devlint.runtime.call_sites import Site, is_library, site_of, user_frame
from devlint.runtime.numpy_sharing import Export, used_again, version_of
from devlint.runtime.recorder import Observation
from devlint.runtime.storage_labels import Cell, Place, Step, cell_of

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import Session


class Move(NamedTuple):
    """A transfer, as the rules see it."""

    tensor: torch.Tensor
    source: Place
    target: torch.device
    how: str
    blocking: bool
    pinned: bool

    @property
    def to_device(self) -> bool:
        """Whether it goes from the host to an accelerator."""
        return self.source.key == 0 and self.target.type != "cpu"


class Habits:
    """Remembers what each line has moved."""

    def __init__(self) -> None:
        self._moved: dict[tuple[Site, tuple[int, ...]], tuple[Cell, int]] = {}

    def look(self, session: Session, move: Move) -> None:
        """Report what this transfer gives away."""
        cell = cell_of(move.tensor)
        if cell is not None and isinstance(cell.watch, Export) and used_again(session, cell.watch, move.tensor):
            cell.watch = None
        if not session.recorders or session.quiet or not move.to_device:
            return
        frame = user_frame(3)
        site = site_of(frame)
        if site is None or move.how == "backward":
            return
        for code, message, steps in self._findings(move, cell, site):
            session.observe(Observation(code, message, site, steps))

    def _findings(self, move: Move, cell: Cell | None, site: Site) -> list[tuple[str, str, tuple[Step, ...]]]:
        found: list[tuple[str, str, tuple[Step, ...]]] = []
        source, tensor = move.source, move.tensor
        steps = source.history()
        nbytes = tensor.numel() * tensor.element_size()
        direct = _direct()
        if tensor.dtype is torch.float64 and "NumPy" in source.how:
            found.append(("DEV303", f"float64 from NumPy is moved to {move.target}", steps))
        if move.blocking and move.pinned:
            found.append(("DEV404", "pinned memory is moved by a blocking transfer", steps))
        if source.parent is not None and source.parent.key:
            found.append(("DEV401", f"{nbytes} bytes come back to {move.target} that were brought to the host", steps))
        elif direct and _same_line(source.site, site):
            if source.how.startswith("created on the host by"):
                found.append(("DEV406", f"{nbytes} bytes are created on the host only to be moved", steps))
            elif source.how == "copied to pinned memory":
                found.append(("DEV405", "pinned only to be moved once", steps))
        if direct and cell is not None and self._again(site, cell, tensor):
            found.append(("DEV402", f"the same {nbytes} bytes are moved again", steps))
        if site.function == "__getitem__":
            found.append(("DEV408", "a sample is moved by itself", steps))
        return found

    def _again(self, site: Site, cell: Cell, tensor: torch.Tensor) -> bool:
        version = version_of(tensor)
        if version is None:
            return False
        where = (site, (tensor.storage_offset(), *tensor.shape))
        before = self._moved.get(where)
        self._moved[where] = (cell, version)
        return before is not None and before[0] is cell and before[1] == version


def _direct() -> bool:
    """Whether the user's line calls the transfer itself, and not a library function that moves many things."""
    frame = sys._getframe(1)
    here = frame.f_code.co_filename.rpartition("/")[0]
    while frame.f_back is not None:
        frame = frame.f_back
        filename = frame.f_code.co_filename
        if not filename.startswith(here):
            return not is_library(filename)
    return False


def _same_line(left: Site | None, right: Site) -> bool:
    return left is not None and (left.filename, left.line) == (right.filename, right.line)
