"""Patches for torch's legacy constructors, such as `torch.FloatTensor(2)`, `torch.Tensor(2)` and `x.new(2)`.

Inside, they are C code that allocates as any operator does, so the dispatch mode cannot tell that a program asked for a
tensor: only the constructor itself knows the device. The patched versions label what they make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.call_sites import user_site
from devlint.runtime.patches.tensor_queries import device_of, legacy_type
from devlint.runtime.storage_labels import HOST, Placement, label_tensor, placement_of
from devlint.runtime.tensor_iterator import decided_placement

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_SHARED = (torch.Tensor, torch.UntypedStorage, torch.TypedStorage)
"""The types of arguments whose memory a legacy constructor shares, so that it makes nothing new."""
_new: Any = torch.Tensor.new


def _shares_memory(arguments: Iterable[Any]) -> bool:
    """Return whether a legacy constructor shares the memory of one of its arguments, instead of making new memory."""
    return any(isinstance(value, _SHARED) for value in arguments)


def _target(session: RuntimeSession, device: Any, own: torch.device) -> torch.device:
    """Return the device on which a legacy constructor makes a tensor: its own one, or another one of the same type."""
    target = own if device is None else session.resolve(device)
    if target.type != own.type:
        raise torch_errors.legacy_constructor_of_other_device(own, target)
    return target


def _check_given_tensor(session: RuntimeSession, kind: str, dtype: torch.dtype, given: tuple[Any, ...]) -> None:
    """Raise torch's error if a legacy constructor is given a tensor of another type than its own, which it shares.

    Torch itself raises it where both are on the host. Tensors that devlint has moved for a test are not refused.
    """
    if len(given) != 1 or not isinstance(given[0], torch.Tensor) or session.test_rules is not None:
        return
    tensor, place = given[0], decided_placement(given[0])
    if place is None or tensor.layout is not torch.strided:
        return
    if place.device.type != kind or (kind != "cpu" and tensor.dtype is not dtype):
        raise torch_errors.legacy_constructor_of_other_tensor((kind, dtype), (str(place.device), tensor.dtype))


class _LegacyType(type):
    """Metaclass of the classes that replace legacy tensor types such as `torch.cuda.FloatTensor`.

    `isinstance` is true for tensors with the type's device and dtype. The class equals the type that it replaces, and
    has its attributes.
    """

    original: Any
    kind: str
    dtype: torch.dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and device_of(instance).type == cls.kind
            and instance.dtype is cls.dtype
            and instance.layout is torch.strided
        )

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.original, name)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.original

    def __hash__(cls) -> int:
        return hash(cls.original)


def _class_of(original: Any, kind: str, legacy: str, dtype: torch.dtype, new: Callable[..., torch.Tensor]) -> type:
    """Return the class in the place of a legacy tensor type, which makes its tensors by the function `new`."""
    module = "torch" if kind == "cpu" else f"torch.{kind}"
    names = {"__new__": staticmethod(new), "__module__": module, "original": original, "kind": kind, "dtype": dtype}
    return _LegacyType(f"{legacy}Tensor", (), names)


def _host_type(session: RuntimeSession, original: Any, legacy: str, dtype: torch.dtype) -> type:
    """Return a class that replaces a legacy type of the host such as `torch.FloatTensor`."""
    how = f"created on the host by torch.{legacy}Tensor()"

    def new(cls: type, *args: Any, **kwargs: Any) -> torch.Tensor:
        _check_given_tensor(session, "cpu", dtype, args)
        out: torch.Tensor = original(*args, **kwargs)
        if _shares_memory((*args, *kwargs.values())):
            return out
        label_tensor(out, Placement(HOST, how, user_site()))
        rules = session.test_rules
        return out if rules is None else rules.place_new(out)

    return _class_of(original, "cpu", legacy, dtype, new)


def _accelerator_type(session: RuntimeSession, original: Any, legacy: str, dtype: torch.dtype) -> type:
    """Return a class that replaces a legacy type such as `torch.cuda.FloatTensor`, and makes emulated tensors."""
    kind = session.backend.kind

    def new(cls: type, *args: Any, device: Any = None) -> torch.Tensor:
        target = _target(session, device, session.resolve(kind))
        _check_given_tensor(session, kind, dtype, args)
        if len(args) == 1 and not isinstance(args[0], int | torch.Size):
            return torch.tensor(args[0], dtype=dtype, device=target)
        return torch.empty(*args or (0,), dtype=dtype, device=target)

    return _class_of(original, kind, legacy, dtype, new)


class _DefaultType:
    """The default tensor type of a session: the device of the tensors that `torch.Tensor(2, 3)` makes."""

    def __init__(self, session: RuntimeSession, host_types: dict[torch.dtype, Any]) -> None:
        self._session = session
        self._host_types = host_types
        self._set: Callable[[Any], None] = torch.set_default_tensor_type
        self.device = HOST

    def choose(self, wanted: Any) -> None:
        """Set the default tensor type, as `torch.set_default_tensor_type` does."""
        found = legacy_type(self._session, wanted)
        if found is None or (found[0].type != "cpu" and not self._session.backend.legacy_types):
            self._set(wanted)
        elif found[0].type == "cpu":
            self._set(self._host_types.get(found[1], wanted))
            torch.set_default_device(None)
            self.device = HOST
        else:
            torch.set_default_dtype(found[1])
            torch.set_default_device(found[0])
            self.device = found[0]

    def forget(self) -> None:
        """Undo what a default tensor type of an accelerator has changed, at the end of the session."""
        if self.device.type != "cpu":
            self.device = HOST
            torch.set_default_device(None)

    def initialize(self, made: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        """Label a tensor that `torch.Tensor(2, 3)` or `torch.Tensor([1.0])` has made; it is the class's `__init__`.

        Subclasses make their tensors as they like and are left alone; so is a tensor with the memory of another one.
        """
        if type(made) is not torch.Tensor or _shares_memory((*args, *kwargs.values())):
            return
        rules = self._session.test_rules
        device = HOST if kwargs else self.device  # they name a device, and torch's C++ code takes the host only
        if rules is not None and not kwargs:
            device = rules.default_device() or device
        where = "the host" if device.type == "cpu" else device
        label_tensor(made, Placement(device, f"created on {where} by torch.Tensor()", user_site()))


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace the legacy constructors, and `torch.set_default_tensor_type`, by versions that know emulated devices."""
    host_types: dict[torch.dtype, Any] = {}
    module = getattr(torch, session.backend.kind, None)
    for dtype_name, legacy in torch_errors.LEGACY_DTYPE_NAMES.items():
        dtype, name = getattr(torch, dtype_name), f"{legacy}Tensor"
        if hasattr(torch, name):
            host_types[dtype] = getattr(torch, name)
            patcher.replace(torch, name, _host_type(session, host_types[dtype], legacy, dtype))
        if session.backend.legacy_types and hasattr(torch.cuda, name):
            patcher.replace(module, name, _accelerator_type(session, getattr(torch.cuda, name), legacy, dtype))

    default = _DefaultType(session, host_types)

    def initialize(self: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        default.initialize(self, *args, **kwargs)

    def new(self: torch.Tensor, *args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        own = decided_placement(self)
        if own is not None:
            _check_given_tensor(session, own.device.type, self.dtype, args)
        out: torch.Tensor = _new(self, *args, **kwargs)
        if not _shares_memory((*args, *kwargs.values())):
            here = placement_of(self)
            target = _target(session, device, here.device)
            label_tensor(out, Placement(target, "created by .new()", user_site(), here))
        return out

    patcher.replace(torch.Tensor, "__init__", initialize)
    patcher.replace(torch.Tensor, "new", new)
    patcher.replace(torch, "set_default_tensor_type", default.choose)
    patcher.at_end(default.forget)
