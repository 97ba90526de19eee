"""Patches for conversions of tensors into other things: NumPy arrays, Python lists, DLPack and printed text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.error_reports import brings_together, code_for, report_operator_error
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.numpy_sharing import watch_numpy_export
from devlint.runtime.storage_labels import label_of, placement_of
from devlint.runtime.stream_clocks import PendingCopy

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_numpy = torch.Tensor.numpy
_tolist = torch.Tensor.tolist
_repr: Callable[..., str] = torch.Tensor.__repr__
_dlpack = torch.Tensor.__dlpack__


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace the methods of `torch.Tensor` that convert it to a NumPy array, a list, DLPack or text.

    The replacements refuse accelerator memory as CUDA does, and report reads of a non-blocking copy that is still
    pending.
    """

    def read(self: torch.Tensor, how: str) -> None:
        label = label_of(self)
        if label is not None and isinstance(label.watch, PendingCopy) and label.watch.to_host:
            session.report_early_read(label.watch, how)

    def numpy(self: torch.Tensor, *, force: bool = False) -> Any:
        place = placement_of(self)
        try:
            if place.key:
                if not force:
                    raise torch_errors.numpy_of_device_tensor(place.device)
                return _numpy(self.detach().cpu(), force=True)
            read(self, ".numpy()")
            array = _numpy(self, force=force)
        except (TypeError, RuntimeError) as error:
            report_operator_error(session, error, (self,), {})
            goes_on = session.keep_going and (place.key or code_for(str(error)) == "DEV117")
            if not (goes_on or (place.key and brings_together(session, error))):
                raise
            with session.unrecorded():
                return _numpy(self.detach().cpu(), force=True)
        watch_numpy_export(session, self)
        return array

    def tolist(self: torch.Tensor) -> Any:
        read(self, ".tolist()")
        if placement_of(self).key:
            session.host_waited("tolist")
        return _tolist(self)

    def represent(self: torch.Tensor, *, tensor_contents: Any = None) -> str:
        read(self, "printing")
        if not placement_of(self).key or session.suspended:
            return _repr(self, tensor_contents=tensor_contents)
        session.host_waited("print")
        with session.unrecorded():
            return _repr(self, tensor_contents=tensor_contents)

    def dlpack(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if placement_of(self).key:
            raise NotEmulated("DLPack exchange of accelerator memory")
        read(self, "DLPack")
        return _dlpack(self, *args, **kwargs)

    def no_interface(self: torch.Tensor) -> Any:
        if placement_of(self).key:
            raise NotEmulated("the CUDA array interface")
        raise AttributeError(f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()}")

    patcher.replace(torch.Tensor, "numpy", numpy)
    patcher.replace(torch.Tensor, "tolist", tolist)
    patcher.replace(torch.Tensor, "__repr__", represent)
    patcher.replace(torch.Tensor, "__dlpack__", dlpack)
    patcher.replace(torch.Tensor, "__cuda_array_interface__", property(no_interface))
