"""Probing of one call of a torch callable: make the call, and record its result and its effects on the arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.derive.sample_calls import SampleCall
from devlint.runtime.derive.signatures import Signature

PARAMETERS = "parameters"
"""The pseudo-parameter that holds a module's own parameters and buffers."""

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
"""The floating-point dtypes to which operands are cast."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one call of a torch callable did: its result and its effects, or the error that it raised in ``error``.

    ``bound`` holds the arguments by parameter name. Operands are the tensors among them. An operand is named by its
    parameter, or ``name[i]`` for the i-th tensor of a sequence. ``before`` holds each operand's dtype and rank before
    the call. ``mutated`` names the operands that the call wrote to, ``shares`` those whose storage the result shares,
    and ``same_object`` the operand that is the result itself. ``ops`` are the operators that the call ran, if recorded.
    """

    bound: dict[str, Any]
    before: dict[str, tuple[torch.dtype, int]] = field(default_factory=dict)
    result: Any = None
    mutated: frozenset[str] = frozenset()
    shares: frozenset[str] = frozenset()
    same_object: str = ""
    ops: tuple[Any, ...] = ()
    error: str = ""

    @property
    def tensors(self) -> list[torch.Tensor]:
        """Return the tensors in the result of the call, in order, also those nested in tuples, lists and dicts."""
        return tensors_of(self.result)

    def given(self) -> frozenset[str]:
        """Return the names of the parameters to which the call passed a value other than None and False."""
        return frozenset(n for n, v in self.bound.items() if v is not None and v is not False)


_Mode: Any = TorchDispatchMode


class _OperatorRecorder(_Mode):  # type: ignore[misc]
    """A torch dispatch mode that records in ``seen`` which ATen operators run while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def parameter_of(operand: str) -> str:
    """Return the parameter to which an operand belongs: ``name`` for the operands ``name`` and ``name[0]``."""
    return operand.split("[")[0]


def variation_groups(given: Iterable[str]) -> dict[str, list[str]]:
    """Group the operands of a call so that a probe changes the dtype or device of all operands of a group together.

    Each operand is a group of its own, but the parameters and buffers of a module form one group.
    """
    found: dict[str, list[str]] = {}
    for name in given:
        found.setdefault(PARAMETERS if parameter_of(name) == PARAMETERS else name, []).append(name)
    return found


def operands(bound: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Return the tensors among a call's arguments, by operand name.

    ``bound`` holds the arguments by parameter name. An operand is named by its parameter, or ``name[i]`` for the i-th
    tensor of a sequence.
    """
    found: dict[str, torch.Tensor] = {}
    for name, value in bound.items():
        if isinstance(value, torch.Tensor):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            found |= {f"{name}[{i}]": v for i, v in enumerate(value) if isinstance(v, torch.Tensor)}
    return found


def dense_operands(bound: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Return the tensors among a call's arguments, by operand name, that are strided and not quantized.

    Such tensors can be cast and reshaped freely.
    """
    return {n: t for n, t in operands(bound).items() if t.layout is torch.strided and not t.is_quantized}


def bind_call(overloads: list[Signature], call: SampleCall) -> dict[str, Any] | None:
    """Return a call's arguments by parameter name, as the first overload that accepts the call names them.

    Returns None if no overload accepts the call.
    """
    for signature in overloads:
        bound = signature.bind(call.args, call.kwargs)
        if bound is not None:
            return bound
    return None


def replace_operands(call: SampleCall, overloads: list[Signature], changes: dict[str, Any]) -> SampleCall:
    """Return a sample call in which the tensors named in ``changes`` are replaced by the tensors given there."""
    given = operands(bind_call(overloads, call) or {})
    by_id = {id(t): changes[name] for name, t in given.items() if name in changes}
    return call.map_tensors(lambda t: by_id.get(id(t), t))


def probe_call(
    function: Callable[..., Any],
    overloads: list[Signature],
    call: SampleCall,
    grad: bool = False,
    record: bool = False,
    device: str = "cpu",
) -> ProbeResult:
    """Call ``function`` with clones of a sample call's tensors, and return the result, the effects, or the error.

    ``overloads`` name the arguments. With ``grad`` the clones require grad, with ``record`` the operators that run are
    recorded, and ``device`` is the device of the clones.
    """
    call = call.map_tensors(lambda t: _clone(t, grad, device))
    bound = bind_call(overloads, call)
    if bound is None:
        return ProbeResult({}, error="does not bind")
    given = operands(bound)
    before = {name: (t.dtype, t.dim()) for name, t in given.items()}
    versions = {name: t._version for name, t in given.items()}
    recorder = _OperatorRecorder()
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(), torch.set_grad_enabled(grad):
            warnings.simplefilter("ignore")
            if record:
                with recorder:
                    result = function(*call.args, **call.kwargs)
            else:
                result = function(*call.args, **call.kwargs)
    except Exception as error:  # any exception counts: the question is whether the call raises
        return ProbeResult(bound, before, error=f"{type(error).__name__}: {error}"[:300])
    storages = {name: _storage(t) for name, t in given.items()}
    made = [_storage(t) for t in tensors_of(result)]
    return ProbeResult(
        bound,
        before,
        result,
        frozenset(name for name, t in given.items() if t._version != versions[name]),
        frozenset(name for name, storage in storages.items() if storage and storage in made),
        next((name for name, t in given.items() if result is t), ""),
        tuple(recorder.seen),
    )


def _clone(tensor: torch.Tensor, grad: bool, device: str) -> torch.Tensor:
    """Return a copy of a tensor on a device. The copy requires grad if ``grad`` is true and its dtype allows that."""
    copy = tensor.detach().clone().to(device)
    return copy.requires_grad_(grad and (copy.is_floating_point() or copy.is_complex()))


def _storage(tensor: torch.Tensor) -> int:
    """Return the memory address of a tensor's storage, or 0 if the tensor has no storage."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def tensors_of(result: Any) -> list[torch.Tensor]:
    """Return the tensors in a call's result, in order, also those nested in tuples, lists and dicts."""
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def cast_operand(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return a tensor argument cast to a dtype.

    A cast from floating-point or complex to an integer dtype or bool gives a tensor of ones, because 1 is a legal value
    for every operator.
    """
    if dtype.is_floating_point or dtype.is_complex or not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor.to(dtype)
    return torch.ones_like(tensor, dtype=dtype)


def as_zero_dim(tensor: torch.Tensor) -> torch.Tensor:
    """Return a 0-dim tensor with the first value of ``tensor``, or with the value 1 if ``tensor`` is empty."""
    return tensor.detach().reshape(-1)[0].clone() if tensor.numel() else tensor.new_ones(())
