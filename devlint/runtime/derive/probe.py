"""Real CPU calls: what a callable returns, in which dtype and rank, what it changes, shares, reads back."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.derive.samples import Call
from devlint.runtime.derive.signatures import Signature

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
ALL = (*FLOATS, torch.int64, torch.int32, torch.uint8, torch.bool, torch.complex64)


@dataclass(slots=True)
class Operand:
    """A tensor of a call as the probes see it: the parameter it came through and its index in a list."""

    name: str
    tensor: torch.Tensor


@dataclass(slots=True)
class Outcome:
    """What one call did; ``error`` is set instead where it raised."""

    bound: dict[str, Any]
    before: dict[str, tuple[torch.dtype, int]] = field(default_factory=dict)
    result: Any = None
    mutated: frozenset[str] = frozenset()
    shares: frozenset[str] = frozenset()
    same_object: str = ""
    requires_grad: bool | None = None
    ops: tuple[Any, ...] = ()
    error: str = ""


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def operands(bound: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The tensors of a bound call by operand name: the parameter's, and ``name[i]`` for the i-th of a sequence."""
    found: dict[str, torch.Tensor] = {}
    for name, value in bound.items():
        if isinstance(value, torch.Tensor):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            found |= {f"{name}[{i}]": v for i, v in enumerate(value) if isinstance(v, torch.Tensor)}
    return found


def bind(overloads: list[Signature], call: Call) -> dict[str, Any] | None:
    """The call's values by parameter name under the first overload that it fits."""
    for signature in overloads:
        bound = signature.bind(call.args, call.kwargs)
        if bound is not None:
            return bound
    return None


def run(function: Any, overloads: list[Signature], call: Call, grad: bool = False, record: bool = False) -> Outcome:
    """Call ``function`` on clones of the call's tensors and note what happened."""
    def clone(tensor: torch.Tensor) -> torch.Tensor:
        copy = tensor.detach().clone()
        return copy.requires_grad_(grad and (copy.is_floating_point() or copy.is_complex()))

    call = call.map_tensors(clone)
    bound = bind(overloads, call)
    if bound is None:
        return Outcome({}, error="does not bind")
    given = operands(bound)
    before = {name: (t.dtype, t.dim()) for name, t in given.items()}
    versions = {name: t._version for name, t in given.items()}
    recorder = _Recorder()
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(), torch.set_grad_enabled(grad):
            warnings.simplefilter("ignore")
            if record:
                with recorder:
                    result = function(*call.args, **call.kwargs)
            else:
                result = function(*call.args, **call.kwargs)
    except Exception as error:  # noqa: BLE001 - the probe asks whether it raises
        return Outcome(bound, before, error=f"{type(error).__name__}: {error}"[:300])
    outs = tensors_of(result)
    storages = {name: _storage(t) for name, t in given.items()}
    return Outcome(
        bound,
        before,
        result,
        frozenset(name for name, t in given.items() if t._version != versions[name]),
        frozenset(name for name, s in storages.items() if s and any(_storage(o) == s for o in outs)),
        next((name for name, t in given.items() if result is t), ""),
        any(o.requires_grad for o in outs) if outs else None,
        tuple(recorder.seen),
    )


def _storage(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def tensors_of(result: Any) -> list[torch.Tensor]:
    """The tensors in a result, in order."""
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def replace(call: Call, overloads: list[Signature], changes: dict[str, Any]) -> Call:
    """The call with the named operands replaced."""
    bound = bind(overloads, call) or {}
    by_id = {id(t): changes[name] for name, t in operands(bound).items() if name in changes}
    return call.map_tensors(lambda t: by_id.get(id(t), t))


def cast(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The tensor in another dtype, with values that stay legal (0 and 1 where the target is integral)."""
    if dtype.is_floating_point or dtype.is_complex or not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor.to(dtype)
    return torch.ones_like(tensor, dtype=dtype)
