"""Patches for methods that move tensors and modules to (emulated) devices: `to`, `cuda`, `cpu` and `type_as`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch

from devlint.runtime.backends import BACKENDS
from devlint.runtime.device_transfers import copy_to_device
from devlint.runtime.discarded_results import check_discarded_transfer
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.patches.tensor_queries import device_of
from devlint.runtime.recorder import TransferKind
from devlint.runtime.storage_labels import HOST

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_to = torch.Tensor.to
_parse_to = torch._C._nn._parse_to


_DTYPES: Final = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
"""The dtypes that the types of Python's numbers name in a call of `.to`."""


class ToArguments(NamedTuple):
    """What a call of `Tensor.to` asks for: device, dtype, `non_blocking`, `copy` and memory format."""

    device: torch.device | None
    dtype: torch.dtype | None
    non_blocking: bool
    copy: bool
    memory_format: torch.memory_format | None

    @property
    def options(self) -> dict[str, Any]:
        """Return `copy`, `non_blocking` and memory format as keyword arguments for torch's own `Tensor.to`.

        The memory format is left out if it is None.
        """
        options: dict[str, Any] = {"copy": self.copy, "non_blocking": self.non_blocking}
        if self.memory_format is not None:
            options["memory_format"] = self.memory_format
        return options


def parse_to_arguments(session: RuntimeSession, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToArguments:
    """Return the arguments of a call of `.to`, which may begin with a device, a dtype or another tensor."""
    if len(args) == 1 and not kwargs and isinstance(args[0], torch.device | str):
        return ToArguments(session.resolve(args[0]), None, False, False, None)
    rest = [_as_dtype(one) for one in args]
    device = kwargs.get("device")
    dtype = _as_dtype(kwargs.get("dtype"))
    other = kwargs.get("other")
    if rest and isinstance(rest[0], torch.Tensor):
        other = rest.pop(0)
    elif rest and isinstance(rest[0], torch.dtype):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], torch.dtype)):
            dtype = rest.pop(0)
    if other is not None:
        device, dtype = device_of(other), other.dtype
    non_blocking = bool(rest.pop(0)) if rest else bool(kwargs.get("non_blocking", False))
    copy = bool(rest.pop(0)) if rest else bool(kwargs.get("copy", False))
    target = session.resolve(device) if device is not None else None
    return ToArguments(target, dtype, non_blocking, copy, kwargs.get("memory_format"))


def _as_dtype(value: Any) -> Any:
    """Return the dtype that a type of Python's numbers names; any other value as it is."""
    return _DTYPES.get(value, value) if isinstance(value, type) else value


def _move(session: RuntimeSession, tensor: torch.Tensor, asked: ToArguments, how: str) -> torch.Tensor:
    """Return a tensor moved, cast or unchanged, as the given arguments of `.to` ask, and record the transfer.

    `how` is the name of the method that the program called. The call is reported if the program discards its result.
    """
    here = device_of(tensor)
    target = asked.device
    if target is None or target == here:
        out = _result_on_same_device(tensor, asked)
        if out is tensor and target is not None:
            kind = TransferKind(str(here), str(here), True, False, how)
            session.notify_recorders(lambda recorder, frame: recorder.record_redundant_transfer(kind, frame))
    elif target.type == "meta" or here.type not in ("cpu", session.kind):
        out = _to(tensor, device=target, dtype=asked.dtype, **asked.options)
    elif target.type not in ("cpu", session.kind):
        raise NotEmulated(f"the device {target}")
    else:
        out = copy_to_device(
            tensor,
            target,
            dtype=asked.dtype,
            non_blocking=asked.non_blocking,
            memory_format=asked.memory_format,
            how=how,
        )
    check_discarded_transfer(session, how)
    return out


def _result_on_same_device(tensor: torch.Tensor, asked: ToArguments) -> torch.Tensor:
    """Return the result of a call of `.to` that does not change the device: the tensor, a cast or a copy of it."""
    return _to(tensor, asked.dtype or tensor.dtype, **asked.options)


def _module_mover(kind: str) -> Callable[..., Any]:
    """Return the method of modules that has the name of a device type which torch itself does not know, such as npu."""

    def move(self: Any, device: Any = None) -> Any:
        return self._apply(lambda tensor: getattr(tensor, kind)(device))

    return move


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace the methods of `torch.Tensor` that move tensors, and torch's parser of the arguments of `Module.to`.

    The replacements know emulated devices.
    """

    def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return _move(session, self, parse_to_arguments(session, args, kwargs), "to")

    def mover(kind: str) -> Callable[..., torch.Tensor]:
        """Return the method of tensors that has the name of a device type, such as `Tensor.cuda`."""

        def move(
            self: torch.Tensor,
            device: Any = None,
            non_blocking: bool = False,
            memory_format: torch.memory_format | None = None,
        ) -> torch.Tensor:
            target = session.resolve(kind)
            if device is not None:
                target = session.resolve(device)
            if target.type != kind:
                raise ValueError(f"Invalid device, must be {kind} device but got {target}")
            return _move(session, self, ToArguments(target, None, non_blocking, False, memory_format), kind)

        return move

    def cpu(self: torch.Tensor, memory_format: torch.memory_format | None = None) -> torch.Tensor:
        return _move(session, self, ToArguments(HOST, None, False, False, memory_format), "cpu")

    def type_as(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return _move(session, self, ToArguments(device_of(other), other.dtype, False, False, None), "type_as")

    def parse_to(*args: Any, **kwargs: Any) -> Any:
        """Return device, dtype, `non_blocking` and memory format that a call of `Module.to` asks for.

        A tensor among the arguments serves as a template for device and dtype.
        """
        asked = parse_to_arguments(session, args, kwargs)
        return asked.device, asked.dtype, asked.non_blocking, asked.memory_format

    for name, method in (("to", to), ("cpu", cpu), ("type_as", type_as)):
        patcher.replace(torch.Tensor, name, method)
    for backend in BACKENDS.values():
        if hasattr(torch.Tensor, backend.kind) or (backend.kind == session.kind and backend.tensor_method):
            patcher.replace(torch.Tensor, backend.kind, mover(backend.kind))
            if not hasattr(torch.nn.Module, backend.kind):
                patcher.replace(torch.nn.Module, backend.kind, _module_mover(backend.kind))
    patcher.replace(torch._C._nn, "_parse_to", parse_to)
