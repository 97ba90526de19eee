"""One real CPU call, and everything that can be seen of it."""

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
"""The pseudo-parameter through which a module's own tensors come."""

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one call did; ``error`` is set instead where it raised.

    Operands are named by their parameter, or ``name[i]`` for the i-th tensor of a sequence; ``before`` holds their
    dtypes and ranks as they went in.
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
        """The tensors in the result, in order."""
        return tensors_of(self.result)

    def given(self) -> frozenset[str]:
        """The parameters that were given something that means more than their absence."""
        return frozenset(n for n, v in self.bound.items() if v is not None and v is not False)


_Mode: Any = TorchDispatchMode


class _OperatorRecorder(_Mode):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def parameter_of(operand: str) -> str:
    """The parameter name of an operand name."""
    return operand.split("[")[0]


def variation_groups(given: Iterable[str]) -> dict[str, list[str]]:
    """The operands that are varied together: each by itself, but a module's own tensors all at once."""
    found: dict[str, list[str]] = {}
    for name in given:
        found.setdefault(PARAMETERS if parameter_of(name) == PARAMETERS else name, []).append(name)
    return found


def operands(bound: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The tensors of a bound call by operand name."""
    found: dict[str, torch.Tensor] = {}
    for name, value in bound.items():
        if isinstance(value, torch.Tensor):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            found |= {f"{name}[{i}]": v for i, v in enumerate(value) if isinstance(v, torch.Tensor)}
    return found


def dense_operands(bound: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The operands that can be cast and reshaped at will: strided and not quantized."""
    return {n: t for n, t in operands(bound).items() if t.layout is torch.strided and not t.is_quantized}


def bind_call(overloads: list[Signature], call: SampleCall) -> dict[str, Any] | None:
    """The call's values by parameter name under the first overload that it fits."""
    for signature in overloads:
        bound = signature.bind(call.args, call.kwargs)
        if bound is not None:
            return bound
    return None


def replace_operands(call: SampleCall, overloads: list[Signature], changes: dict[str, Any]) -> SampleCall:
    """The call with the named operands replaced."""
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
    """Call ``function`` on clones of the call's tensors and note what happened."""
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
    except Exception as error:  # the probe asks whether the call raises, whatever it raises
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
    copy = tensor.detach().clone().to(device)
    return copy.requires_grad_(grad and (copy.is_floating_point() or copy.is_complex()))


def _storage(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def tensors_of(result: Any) -> list[torch.Tensor]:
    """The tensors in a result, in order."""
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def cast_operand(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The tensor in another dtype, with values that stay legal: ones where a fraction would be cut off."""
    if dtype.is_floating_point or dtype.is_complex or not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor.to(dtype)
    return torch.ones_like(tensor, dtype=dtype)


def as_zero_dim(tensor: torch.Tensor) -> torch.Tensor:
    """A 0-dim tensor with the first value of ``tensor``."""
    return tensor.detach().reshape(-1)[0].clone() if tensor.numel() else tensor.new_ones(())
