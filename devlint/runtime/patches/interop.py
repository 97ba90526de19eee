"""Ways out of torch: NumPy, Python lists, DLPack, printing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.error_reports import mishap
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.numpy_sharing import exported
from devlint.runtime.storage_labels import cell_of, place_of
from devlint.runtime.stream_clocks import Transit

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import Session

_numpy = torch.Tensor.numpy
_tolist = torch.Tensor.tolist
_repr: Callable[..., str] = torch.Tensor.__repr__
_dlpack = torch.Tensor.__dlpack__


def install(session: Session, patcher: Patcher) -> None:
    """Refuse what accelerator memory refuses, and notice who reads too early."""

    def read(self: torch.Tensor, how: str) -> None:
        cell = cell_of(self)
        if cell is not None and isinstance(cell.watch, Transit) and cell.watch.inbound:
            session.read_early(cell.watch, how)

    def numpy(self: torch.Tensor, *, force: bool = False) -> Any:
        place = place_of(self)
        try:
            if place.key:
                if not force:
                    raise torch_errors.no_numpy(place.device)
                return _numpy(self.detach().cpu(), force=True)
            read(self, ".numpy()")
            array = _numpy(self, force=force)
        except (TypeError, RuntimeError) as error:
            mishap(session, error, (self,), {})
            if not (session.keep_going and place.key):
                raise
            return _numpy(self.detach().cpu(), force=True)
        exported(session, self)
        return array

    def tolist(self: torch.Tensor) -> Any:
        read(self, ".tolist()")
        if place_of(self).key:
            session.waited("tolist")
        return _tolist(self)

    def represent(self: torch.Tensor, *, tensor_contents: Any = None) -> str:
        read(self, "printing")
        if not place_of(self).key or session.quiet:
            return _repr(self, tensor_contents=tensor_contents)
        session.waited("print")
        session.quiet = True
        try:
            return _repr(self, tensor_contents=tensor_contents)
        finally:
            session.quiet = False

    def dlpack(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if place_of(self).key:
            raise NotEmulated("DLPack exchange of accelerator memory")
        read(self, "DLPack")
        return _dlpack(self, *args, **kwargs)

    def no_interface(self: torch.Tensor) -> Any:
        if place_of(self).key:
            raise NotEmulated("the CUDA array interface")
        raise AttributeError(f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()}")

    patcher.replace(torch.Tensor, "numpy", numpy)
    patcher.replace(torch.Tensor, "tolist", tolist)
    patcher.replace(torch.Tensor, "__repr__", represent)
    patcher.replace(torch.Tensor, "__dlpack__", dlpack)
    patcher.replace(torch.Tensor, "__cuda_array_interface__", property(no_interface))
