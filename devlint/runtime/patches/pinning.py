"""Patches for pinned (page-locked) host memory on emulated devices: `Tensor.pin_memory` and `Tensor.is_pinned`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.call_sites import user_site
from devlint.runtime.error_reports import report_operator_error
from devlint.runtime.storage_labels import Placement, label_of, label_tensor, placement_of

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_clone = torch.Tensor.clone


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace `pin_memory` and `is_pinned` of `torch.Tensor` by versions that use the label on the tensor's storage.

    Only host memory can be pinned; for other tensors, `pin_memory` raises the error that torch raises.
    """

    def pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
        place = placement_of(self)
        if place.key:
            error = torch_errors.pinning_device_tensor(torch_errors.legacy_type_name(self.dtype, place.device))
            report_operator_error(session, error, (self,), {})
            if session.keep_going:
                return self
            raise error
        label = label_of(self)
        if label is not None and label.pinned:
            return self
        session.initialize()
        out = _clone(self)
        fresh = label_tensor(out, Placement(place.device, "copied to pinned memory", user_site(), place))
        if fresh is not None:
            fresh.pinned = True
        return out

    def is_pinned(self: torch.Tensor, device: Any = None) -> bool:
        label = label_of(self)
        return label is not None and label.pinned and not label.place.key

    patcher.replace(torch.Tensor, "pin_memory", pin_memory)
    patcher.replace(torch.Tensor, "is_pinned", is_pinned)
