"""Patches for small operators that programs call often: a short way past the dispatch mode where no check can fail.

A dispatch mode in Python costs several times what a small operator itself takes. If all tensors of a call are on one
device and nothing else watches, the operator cannot be refused and its result is on that device too. Such a call runs
with the mode turned off. Every other call, and every call that fails, goes through the mode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime.direct_calls import PLAIN_TENSORS, mode_disabled, needs_mode, record_direct_call
from devlint.runtime.floating_kernels import FLOATING_KERNELS
from devlint.runtime.storage_labels import (
    UNDECIDED,
    DeviceStorageLabel,
    StorageLabel,
    label_of,
    label_tensor,
    storage_of_dense,
)

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

Tensor = torch.Tensor
_NUMBERS = frozenset({int, float, bool, complex})
_ARGUMENTS = _NUMBERS | {type(None), torch.Size, torch.dtype}
"""The types of further arguments that hold no tensor."""

TWO_OPERANDS = {
    "__add__": "add", "__radd__": "add", "add": "add", "__sub__": "sub", "sub": "sub", "__mul__": "mul",
    "__rmul__": "mul", "mul": "mul", "__truediv__": "div", "div": "div", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
    "__ge__": "ge", "__eq__": "eq", "__ne__": "ne", "__pow__": "pow", "pow": "pow", "maximum": "maximum",
    "minimum": "minimum", "mm": "mm", "bmm": "bmm", "__rsub__": "rsub", "__iadd__": "add_", "add_": "add_",
    "__isub__": "sub_", "sub_": "sub_", "__imul__": "mul_", "mul_": "mul_", "__itruediv__": "div_", "div_": "div_",
}  # fmt: skip
"""Names of methods and functions of two operands, with the name of the operator that each dispatches."""
KEEP_A_COPY = frozenset({"mul_", "div_"})
"""Operators in place that keep a copy of their first operand if the second requires a gradient.

Autograd makes the copy in the operator itself, where the mode must see it to know where it lies.
"""
ONE_OPERAND = {
    **{name: name for name in (
        "abs exp log log1p expm1 sqrt rsqrt reciprocal sin cos tanh sigmoid relu neg erf floor round sign sum mean "
        "clamp unsqueeze squeeze transpose t select view permute"
    ).split()},
    "__neg__": "neg", "__abs__": "abs", "item": "_local_scalar_dense",
}  # fmt: skip
"""The same for those of one tensor, which further arguments without tensors may follow."""
READS = frozenset({"_local_scalar_dense"})
"""Those whose result is no tensor: for one on an accelerator the host waits, which the mode must see."""


def _decided(label: StorageLabel | None) -> bool:
    """Return whether a label is that of a storage whose device is known, and whose uses need no check."""
    return label is None or (label.watch is None and label.place is not UNDECIDED)


def _finish(session: RuntimeSession, name: str, out: Any, operands: tuple[Any, ...], label: StorageLabel | None) -> Any:
    """Label the result of an operator as its operands are labelled, tell the recorders that it ran, and return it."""
    on_device = False
    if label is not None:
        place = label.place
        on_device = place.key > 0
        try:
            storage = storage_of_dense(out)
            if storage._devlint_label is None:
                storage._devlint_label = (
                    DeviceStorageLabel(place, storage.nbytes()) if on_device else StorageLabel(place)
                )
        except RuntimeError:  # a wrapper of torch.func
            if label_of(out) is None:
                label_tensor(out, place)
        if on_device:
            session.streams.launched_operators += 1
    if session.recorders and not session.thread_state.suspended:
        record_direct_call(session, name, out, operands, on_device=on_device)
    return out


def _without_tensors(arguments: tuple[Any, ...]) -> bool:
    """Return whether arguments hold no tensors."""
    for value in arguments:
        kind = type(value)
        if kind not in _ARGUMENTS and (kind is not tuple or any(type(part) is not int for part in value)):
            return False
    return True


def _one_operand(session: RuntimeSession, name: str, base: Callable[..., Any]) -> Callable[..., Any]:
    """Return the short way to a function of one tensor, which further arguments without tensors may follow."""
    reads = name in READS

    @functools.wraps(base)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not args or type(args[0]) not in PLAIN_TENSORS or needs_mode(session):
            return base(*args, **kwargs)
        if len(args) > 1 and not _without_tensors(args[1:]):
            return base(*args)
        fits = False
        try:
            label = storage_of_dense(args[0])._devlint_label
            if _decided(label) and not (reads and label is not None and label.place.key):
                with mode_disabled():
                    out = base(*args)
                fits = True
        except RuntimeError:
            pass  # it fails again in the mode, and is reported
        return _finish(session, name, out, args, None if reads else label) if fits else base(*args)

    return call


def _two_operands(session: RuntimeSession, name: str, base: Callable[..., Any]) -> Callable[..., Any]:
    """Return the short way to a function of two operands, of which the second may be a number."""
    keeps_copy = name in KEEP_A_COPY
    floats_only = name in FLOATING_KERNELS

    def operator(left: Any, right: Any) -> Any:
        if type(left) not in PLAIN_TENSORS or needs_mode(session):
            return base(left, right)
        kind = type(right)
        fits = kind in _NUMBERS
        if floats_only and not left.is_floating_point():
            return base(left, right)
        try:
            label = storage_of_dense(left)._devlint_label
            if label is not None and (label.watch is not None or label.place is UNDECIDED):
                fits = False
            elif kind in PLAIN_TENSORS:
                other = storage_of_dense(right)._devlint_label
                fits = label is other
                if not fits and (other is None or (other.watch is None and other.place is not UNDECIDED)):
                    fits = (label.place.key if label else 0) == (other.place.key if other else 0)
                    label = label or other
                if keeps_copy and right.requires_grad:
                    fits = False
            if fits:
                with mode_disabled():
                    out = base(left, right)
        except RuntimeError:
            fits = False  # it fails again in the mode, and is reported
        return _finish(session, name, out, (left, right), label) if fits else base(left, right)

    return operator


def _named_operator(session: RuntimeSession, name: str, base: Callable[..., Any]) -> Callable[..., Any]:
    """Return the short way to a function of two operands that may be called with more arguments than these."""
    operator = _two_operands(session, name, base)

    @functools.wraps(base)
    def call(*args: Any, **kwargs: Any) -> Any:
        return base(*args, **kwargs) if kwargs or len(args) != 2 else operator(*args)

    return call


def _several_operands(
    session: RuntimeSession,
    names: Callable[[tuple[Any, ...]], tuple[str, ...]],
    tensors_of: Callable[[tuple[Any, ...]], Any],
    base: Callable[..., Any],
) -> Callable[..., Any]:
    """Return the short way to a function of several tensors.

    `names` gives the operators that a call with these arguments dispatches; an empty tuple means that the call does not
    fit. `tensors_of` gives the tensors among the arguments, which hold no others.
    """

    @functools.wraps(base)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or needs_mode(session):
            return base(*args, **kwargs)
        label: StorageLabel | None = None
        operators: tuple[str, ...] = ()
        try:
            tensors = tensors_of(args)
            fits, label = _common_label(tensors)
            operators = names(args) if fits else ()
            if operators:
                with mode_disabled():
                    out = base(*args)
        except (RuntimeError, AttributeError, TypeError, IndexError):
            operators = ()  # it fails again in the mode, and is reported
        if not operators:
            return base(*args)
        for name in operators:
            _finish(session, name, out, tensors, label)
        return out

    return call


def _common_label(tensors: Any) -> tuple[bool, StorageLabel | None]:
    """Return whether all tensors are plain ones on one device that nothing watches, and the label of the first."""
    label: StorageLabel | None = None
    key = -1
    for tensor in tensors:
        if type(tensor) not in PLAIN_TENSORS:
            return False, None
        own = storage_of_dense(tensor)._devlint_label
        if not _decided(own):
            return False, None
        found = 0 if own is None else own.place.key
        if key not in (-1, found):
            return False, None
        key = found
        label = label or own
    return key >= 0, label


def _always(name: str, args: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the one operator of a name, which a function dispatches whatever its arguments are."""
    return (name,)


def _first(args: tuple[Any, ...]) -> Any:
    """Return the first argument, which is a list of tensors."""
    return args[0]


def _given(args: tuple[Any, ...]) -> list[Any]:
    """Return the arguments that are not None."""
    return [value for value in args if value is not None]


def _linear_operators(args: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the operators that `torch.nn.functional.linear` dispatches; none but for matrices of floats."""
    if args[0].dim() != 2 or args[1].dim() != 2 or not args[0].is_floating_point():
        return ()
    return ("t", "addmm") if len(args) > 2 and args[2] is not None else ("t", "mm")


def _product_operators(args: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the operator that a product of two matrices of floats dispatches."""
    fits = len(args) == 2 and args[0].dim() == args[1].dim() == 2 and args[0].is_floating_point()
    return ("mm",) if fits else ()


def _choice_operators(args: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the operator that `torch.where` dispatches; none for a condition alone, which gives a tuple of indices."""
    return ("where",) if len(args) == 3 else ()


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace the methods and functions of small operators by versions that pass the dispatch mode where they may.

    Backends that lack dtypes check every operator, so nothing is replaced for them. `Tensor.__getitem__` stays as it
    is: with one written in Python, a tensor counts as a sequence in C, and `torch.tensor` of a list of tensors fails.
    """
    if session.dtype_limits:
        return

    def replace(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        base = getattr(owner, name, None)
        if base is None:
            return
        wrapped = make(base)
        # By these names, pickle finds the function.
        wrapped.__module__, wrapped.__qualname__ = owner.__module__ if owner is Tensor else owner.__name__, name
        patcher.replace(owner, name, wrapped)

    for name, operator in ONE_OPERAND.items():
        for owner in (Tensor,) if name.startswith("__") else (Tensor, torch):
            replace(owner, name, functools.partial(_one_operand, session, operator))
    for name, operator in TWO_OPERANDS.items():
        if name.startswith("__"):
            replace(Tensor, name, functools.partial(_two_operands, session, operator))
        else:
            for owner in (Tensor, torch):
                replace(owner, name, functools.partial(_named_operator, session, operator))
    for name in ("cat", "stack"):
        replace(torch, name, functools.partial(_several_operands, session, functools.partial(_always, name), _first))
    replace(torch, "where", functools.partial(_several_operands, session, _choice_operators, _given))
    for owner, name in ((Tensor, "__matmul__"), (Tensor, "matmul"), (torch, "matmul")):
        replace(owner, name, functools.partial(_several_operands, session, _product_operators, _given))
    replace(torch.nn.functional, "linear", functools.partial(_several_operands, session, _linear_operators, _given))
