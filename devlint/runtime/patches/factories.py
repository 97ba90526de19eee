"""Patches for the torch functions that create tensors.

They create the tensor on the host, and label its storage with the emulated device that the program asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _device as default_device

from devlint.runtime import rng, torch_errors
from devlint.runtime.call_sites import site_of, user_frame
from devlint.runtime.device_transfers import copy_to_device
from devlint.runtime.direct_calls import mode_disabled, needs_mode, record_direct_call
from devlint.runtime.error_reports import report_operator_error
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import HOST, Placement, label_tensor, placement_of

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

LIKE = ("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like")
NEW = ("new_zeros", "new_ones", "new_empty", "new_full", "new_empty_strided", "new_tensor")
ONE_OPERATOR = frozenset(
    {"zeros", "ones", "empty", "full", "rand", "randn", "randint", "arange", "randperm", "linspace"}
)
"""The functions whose whole work is the one operator of the same name."""
DATA = ("tensor", "as_tensor", "asarray")
SPARSE = tuple(f"sparse_{kind}_tensor" for kind in ("coo", "compressed", "csr", "csc", "bsr", "bsc"))
NESTED = ("nested_tensor", "as_nested_tensor")
ARRAYS = ("from_numpy", "frombuffer", "from_dlpack", "from_file")


def _plain_factories() -> Iterator[tuple[Any, str]]:
    """Yield the torch functions that create tensors of given sizes, each as its module and its name there."""
    wanted = default_device._device_constructors()
    for module in (torch, torch.fft):
        for name, value in vars(module).items():
            if callable(value) and value in wanted and name not in DATA + SPARSE:
                yield module, name
    yield torch, "normal"


def current_default_device() -> torch.device | None:
    """Return this thread's default device, as `set_default_device` or `with torch.device(...)` chose it.

    Returns None if nothing was chosen.
    """
    for index in range(torch._C._len_torch_function_stack() - 1, -1, -1):
        mode = torch._C._get_function_stack_at(index)
        if isinstance(mode, default_device.DeviceContext):
            return mode.device
    return None


class _FactoryWrapper:
    """Maker of wrappers for torch functions that create tensors, which label each new tensor with the device asked for.

    The device may be emulated; the tensor itself is created on the host.
    """

    def __init__(self, session: RuntimeSession) -> None:
        self.session = session
        # By instruction of the calling code, which is kept alive; see `_place`.
        self._places: dict[tuple[Any, ...], tuple[CodeType | None, Placement]] = {}

    def target(self, device: Any, *, default: bool = True) -> torch.device:
        """Return the device on which a torch function is asked to create a tensor.

        `device` is the argument of the call. For None it is this thread's default device; it is the host if there is
        none or if `default` is False.
        """
        if device is None and default:
            device = current_default_device() or self.device_of_tests()
        return self.session.resolve(device)

    def device_of_tests(self) -> torch.device | None:
        """Return the device for a tensor that test code makes now, or None if no rule places it."""
        rules = self.session.test_rules
        return rules.default_device() if rules is not None else None

    def foreign(self, target: torch.device) -> bool:
        """Return whether a device is neither the host nor of the emulated type; an example is `meta`."""
        return target.type not in ("cpu", self.session.kind)

    def label_result(
        self, out: Any, target: torch.device, name: str, *, explicit: bool, pinned: bool = False, data: str = ""
    ) -> Any:
        """Label a new tensor with its device, and return the tensor.

        The recorders count the call of the function that created the tensor, whose name is `name`. `data` tells what it
        was made from.
        """
        session = self.session
        if target.type != "cpu" and session.dtype_limits:
            session.dtype_limits.check_made(out.dtype)
        frame = user_frame(3)
        label = label_tensor(out, self._place(frame, target, f"{name}(){data}", explicit=explicit))
        if pinned and label is not None:
            label.pinned = True
        for recorder in session.recorders:
            recorder.record_factory(name, frame, on_device=target.type == session.kind)
        return out

    def _place(self, frame: FrameType | None, target: torch.device, call: str, *, explicit: bool) -> Placement:
        """Return the placement of a tensor that a frame makes on a device; it is the same each time the frame does."""
        code = None if frame is None else frame.f_code
        key = (id(code), frame.f_lasti if frame is not None else 0, target, call, explicit)
        known = self._places.get(key)
        if known is None:
            where = "the host" if target.type == "cpu" else target
            how = f"created on {where} by {call}" + ("" if explicit else ", which names no device")
            known = self._places[key] = (code, Placement(target, how, site_of(frame)))
        return known[1]

    def plain(self, name: str, original: Callable[..., Any], *, default: bool) -> Callable[..., Any]:
        """Return a wrapper of a function that makes a tensor of given sizes, such as `torch.zeros`."""
        create = self._direct(name, original)

        @functools.wraps(original)
        def factory(*args: Any, device: Any = None, pin_memory: bool = False, **kwargs: Any) -> Any:
            target = self.target(device, default=default)
            if self.foreign(target):
                return original(*args, device=target, **kwargs)
            if kwargs.get("out") is not None or (not default and device is None):
                return original(*args, **kwargs)
            try:
                if device is not None or current_default_device() is not None or self.session.test_rules is None:
                    rng.check_generator(kwargs.get("generator"), target)
                _check_pinning(target, pinned=pin_memory)
            except RuntimeError as error:
                report_operator_error(self.session, error, args, kwargs)
                if not self.session.keep_going:
                    raise
                kwargs, pin_memory = {**kwargs, "generator": None} if "generator" in kwargs else kwargs, False
            key = 0 if target.type == "cpu" else 1 + (target.index or 0)
            if rng.has_own_generator(key):
                with rng.device_generator_state(key):
                    out = original(*args, device=HOST, **kwargs)
            else:
                out = create(*args, device=HOST, **kwargs)
            return self.label_result(out, target, name, explicit=device is not None, pinned=pin_memory)

        return factory

    def _direct(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a version of a function that makes a tensor by one operator, which passes the dispatch mode."""
        session = self.session
        operator = name.rpartition(".")[2]
        if operator not in ONE_OPERATOR:
            return original

        def create(*args: Any, **kwargs: Any) -> Any:
            if needs_mode(session):
                return original(*args, **kwargs)
            with mode_disabled():
                out = original(*args, **kwargs)
            if session.recorders and not session.suspended:
                record_direct_call(session, operator, out, (), on_device=False)
            return out

        return create

    def relative(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of a function such as `zeros_like`, which makes a tensor on the device of another tensor.

        The argument `device` may ask for a different device.
        """

        @functools.wraps(original)
        def factory(*args: Any, device: Any = None, pin_memory: bool = False, **kwargs: Any) -> Any:
            if device is None and name != "new_tensor":
                return original(*args, **kwargs)
            source = args[0] if args else kwargs["input"]
            target = placement_of(source).device if device is None else self.session.resolve(device)
            if self.foreign(target):
                return original(*args, device=target, **kwargs)
            if name != "new_tensor":
                _check_pinning(target, pinned=pin_memory)
            out = original(*args, **kwargs)
            return self.label_result(out, target, name, explicit=True, pinned=pin_memory)

        return factory

    def data(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of `torch.tensor`, `as_tensor` or `asarray`, which take Python data, arrays or tensors."""

        @functools.wraps(original)
        def factory(data: Any, *args: Any, device: Any = None, pin_memory: bool = False, **kwargs: Any) -> Any:
            if isinstance(data, torch.Tensor) and device is None and current_default_device() is None:
                target = placement_of(data).device
            else:
                target = self.target(device)
            if self.foreign(target) or getattr(data, "is_meta", False):
                return original(data, *args, device=target, **kwargs)
            if isinstance(data, torch.Tensor):
                return self._from_tensor(data, target, original, name, args, kwargs)
            if kwargs.get("requires_grad"):
                out = original(data, *args, device=HOST, **{**kwargs, "requires_grad": False})
            else:
                out = original(data, *args, device=HOST, **kwargs)
            if target.type != "cpu" and name != "tensor":
                out = out.clone()
            self.label_result(
                out,
                target,
                f"torch.{name}",
                explicit=device is not None,
                pinned=pin_memory,
                data=_origin_suffix(data),
            )
            if target.type != "cpu":
                self.session.notify_recorders(
                    lambda recorder, frame: recorder.record_wait("tensor from Python data", frame)
                )
            return out.requires_grad_() if kwargs.get("requires_grad") else out

        return factory

    def _from_tensor(
        self, data: torch.Tensor, target: torch.device, original: Any, name: str, args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """Return the result of `torch.tensor`, `as_tensor` or `asarray` for data that is a tensor.

        The data is copied if it is not on the target device.
        """
        here = placement_of(data).device
        if here == target:
            return original(data, *args, **kwargs)
        if name == "tensor":
            copied = copy_to_device(data.detach(), target, dtype=kwargs.get("dtype"), how="tensor")
            return copied.requires_grad_(bool(kwargs.get("requires_grad")))
        return data.to(target, kwargs.get("dtype"))

    def nested(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of a function that makes a nested tensor.

        The tensor is placed on the device of its first part if the call names no device.
        """

        @functools.wraps(original)
        def factory(parts: Any, *args: Any, device: Any = None, layout: Any = None, **kwargs: Any) -> Any:
            target = self.target(device)
            first = parts if isinstance(parts, torch.Tensor) else next(iter(parts), None)
            if device is None and isinstance(first, torch.Tensor):
                target = placement_of(first).device
            if target.type == self.session.kind and layout is torch.jagged:
                raise NotEmulated("nested tensors of the jagged layout on an accelerator")
            if self.foreign(target):
                return original(parts, *args, device=target, layout=layout, **kwargs)
            out = original(parts, *args, device=HOST, layout=layout, **kwargs)
            return self.label_result(out, target, name, explicit=device is not None)

        return factory

    def sparse(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of a function that makes a sparse tensor from indices and values."""

        @functools.wraps(original)
        def factory(*args: Any, device: Any = None, pin_memory: bool = False, **kwargs: Any) -> Any:
            parts = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
            target = placement_of(parts[-1]).device if parts and device is None else self.target(device)

            def bring(value: Any) -> Any:
                if not isinstance(value, torch.Tensor):
                    return value
                if device is None and placement_of(value).device != target:
                    raise torch_errors.sparse_parts_on_two_devices(placement_of(value).device, target)
                return value.to(target)

            out = original(*map(bring, args), **{key: bring(value) for key, value in kwargs.items()})
            return self.label_result(out, target, name, explicit=device is not None)

        return factory

    def array(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of a function that makes a host tensor over existing memory, such as `torch.from_numpy`."""

        @functools.wraps(original)
        def factory(*args: Any, **kwargs: Any) -> Any:
            out = original(*args, **kwargs)
            label_tensor(out, Placement(HOST, f"made from a NumPy array by {name}()", site_of(user_frame(2))))
            rules = self.session.test_rules
            return out if rules is None else rules.place_new(out)

        return factory


def _check_pinning(target: torch.device, *, pinned: bool) -> None:
    """Raise PyTorch's error for a factory call that asks for pinned memory on an accelerator."""
    if pinned and target.type != "cpu":
        raise torch_errors.pinned_factory_on_device()


def _origin_suffix(data: Any) -> str:
    """Return " from a NumPy array" for a NumPy or pandas object and the empty string for other data.

    The text ends a step in the history of the tensor that is made from the data.
    """
    return " from a NumPy array" if type(data).__module__.startswith(("numpy", "pandas")) else ""


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace the torch functions that create tensors, such as `torch.zeros`, by versions for emulated devices."""
    wrapper = _FactoryWrapper(session)

    for module, name in list(_plain_factories()):
        title = f"torch.{name}" if module is torch else f"{module.__name__}.{name}"
        patcher.replace(module, name, wrapper.plain(title, getattr(module, name), default=name != "normal"))
    for name in LIKE:
        patcher.replace(torch, name, wrapper.relative(name, getattr(torch, name)))
    for name in NEW:
        patcher.replace(torch.Tensor, name, wrapper.relative(name, getattr(torch.Tensor, name)))
    for name in DATA:
        patcher.replace(torch, name, wrapper.data(name, getattr(torch, name)))
    for name in SPARSE:
        patcher.replace(torch, name, wrapper.sparse(name, getattr(torch, name)))
    for name in NESTED:
        patcher.replace(torch.nested, name, wrapper.nested(f"torch.nested.{name}", getattr(torch.nested, name)))
    for name in ARRAYS:
        patcher.replace(torch, name, wrapper.array(f"torch.{name}", getattr(torch, name)))
