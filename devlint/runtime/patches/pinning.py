"""Pinned memory: `pin_memory` and `is_pinned`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.call_sites import user_site
from devlint.runtime.storage_labels import Place, cell_of, place_of, put

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import Session

_clone = torch.Tensor.clone


def install(session: Session, patcher: Patcher) -> None:
    """Pin by label: host memory only, and once."""

    def pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
        place = place_of(self)
        if place.key:
            raise torch_errors.cannot_pin(torch_errors.type_name(self.dtype, place.device))
        cell = cell_of(self)
        if cell is not None and cell.pinned:
            return self
        session.initialise()
        out = _clone(self)
        fresh = put(out, Place(place.device, "copied to pinned memory", user_site(), place))
        if fresh is not None:
            fresh.pinned = True
        return out

    def is_pinned(self: torch.Tensor, device: Any = None) -> bool:
        cell = cell_of(self)
        return cell is not None and cell.pinned and not cell.place.key

    patcher.replace(torch.Tensor, "pin_memory", pin_memory)
    patcher.replace(torch.Tensor, "is_pinned", is_pinned)
