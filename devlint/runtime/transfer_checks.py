"""Runtime checks of each tensor transfer for waste and risk, such as moving the same bytes twice."""

from __future__ import annotations

import sys
from typing import NamedTuple

import torch

from devlint.runtime.call_sites import Site, is_library, site_of, user_frame
from devlint.runtime.numpy_sharing import NumpyExport, report_change_through_numpy, write_count
from devlint.runtime.recorder import Observation
from devlint.runtime.session_protocol import SessionProtocol
from devlint.runtime.storage_labels import HistoryStep, Placement, StorageLabel, label_of


class Transfer(NamedTuple):
    """One copy of a tensor to another device: the tensor, its device and history before, the target, and the method.

    `blocking` tells whether the host waits for the copy, and `pinned` whether the tensor is in pinned memory.
    """

    tensor: torch.Tensor
    source: Placement
    target: torch.device
    how: str
    blocking: bool
    pinned: bool

    @property
    def is_upload(self) -> bool:
        """Return whether the transfer goes from the host to an accelerator."""
        return self.source.key == 0 and self.target.type != "cpu"


class TransferChecker:
    """Checker that reports wasteful or risky tensor transfers; remembers which tensor each source line moved last."""

    def __init__(self) -> None:
        self._moved: dict[tuple[Site, tuple[int, ...]], tuple[StorageLabel, int]] = {}

    def check(self, session: SessionProtocol, transfer: Transfer) -> None:
        """Check a tensor transfer, and tell the session's recorders everything that is wasteful or risky about it."""
        label = label_of(transfer.tensor)
        if (
            label is not None
            and isinstance(label.watch, NumpyExport)
            and report_change_through_numpy(session, label.watch, transfer.tensor)
        ):
            label.watch = None
        if not session.recorders or session.suspended or not transfer.is_upload:
            return
        frame = user_frame(3)
        site = site_of(frame)
        if site is None or transfer.how == "backward":
            return
        for code, message, steps in self._findings(transfer, label, site):
            session.observe(Observation(code, message, site, steps))

    def _findings(
        self, transfer: Transfer, label: StorageLabel | None, site: Site
    ) -> list[tuple[str, str, tuple[HistoryStep, ...]]]:
        """Return what is wasteful or risky about a transfer to an accelerator.

        Each entry is the code of a rule, a message and the history of how the tensor came to its device.
        """
        found: list[tuple[str, str, tuple[HistoryStep, ...]]] = []
        source, tensor = transfer.source, transfer.tensor
        steps = source.history()
        nbytes = tensor.numel() * tensor.element_size()
        direct = _called_by_user_code()
        if tensor.dtype is torch.float64 and "NumPy" in source.how:
            found.append(("DEV303", f"float64 from NumPy is moved to {transfer.target}", steps))
        if transfer.blocking and transfer.pinned:
            found.append(("DEV404", "pinned memory is moved by a blocking transfer", steps))
        if source.parent is not None and source.parent.key:
            found.append(
                ("DEV401", f"{nbytes} bytes come back to {transfer.target} that were brought to the host", steps)
            )
        elif direct and _same_line(source.site, site):
            if source.how.startswith("created on the host by"):
                found.append(("DEV406", f"{nbytes} bytes are created on the host only to be moved", steps))
            elif source.how == "copied to pinned memory":
                found.append(("DEV405", "pinned only to be moved once", steps))
        if direct and label is not None and self._moved_before(site, label, tensor):
            found.append(("DEV402", f"the same {nbytes} bytes are moved again", steps))
        if site.function == "__getitem__":
            found.append(("DEV408", "a sample is moved by itself", steps))
        return found

    def _moved_before(self, site: Site, label: StorageLabel, tensor: torch.Tensor) -> bool:
        """Return whether a source line moves the same memory that it moved last, with the same values.

        Only tensors of the same shape are compared.
        """
        version = write_count(tensor)
        if version is None:
            return False
        where = (site, (tensor.storage_offset(), *tensor.shape))
        before = self._moved.get(where)
        self._moved[where] = (label, version)
        return before is not None and before[0] is label and before[1] == version


def _called_by_user_code() -> bool:
    """Return whether the user's code itself, not a library function, calls the method that makes the transfer."""
    frame = sys._getframe(1)
    here = frame.f_code.co_filename.rpartition("/")[0]
    while frame.f_back is not None:
        frame = frame.f_back
        filename = frame.f_code.co_filename
        if not filename.startswith(here):
            return not is_library(filename)
    return False


def _same_line(left: Site | None, right: Site) -> bool:
    """Return whether two source locations are on the same line of the same file; False if the first is None."""
    return left is not None and (left.filename, left.line) == (right.filename, right.line)
