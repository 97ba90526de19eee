"""Sample calls of each public torch callable, from torch's OpInfo database and from devlint's handwritten samples."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

from devlint.runtime.derive import handwritten_samples, public_names

_NAMESPACED = ("nn.functional.", "linalg.", "fft.", "special.", "masked.", "signal.", "sparse.")
_MAX_SAMPLES = 20
"""The number of samples kept for one OpInfo entry."""
_MAX_GENERATED = 200
"""The number of samples that one OpInfo entry may generate."""


@dataclass(frozen=True, slots=True)
class SampleCall:
    """The positional and keyword arguments of one sample call of a torch callable.

    The same tensors serve many probes, so each probe passes clones of them.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def map_tensors(self, change: Callable[[torch.Tensor], Any]) -> SampleCall:
        """Return the same call with every tensor replaced by ``change(tensor)``."""
        args, kwargs = pytree.tree_map_only(torch.Tensor, change, (self.args, self.kwargs))
        return SampleCall(args, kwargs)

    def kind(self) -> tuple[object, ...]:
        """Return a key that is equal for two calls of the same kind.

        Calls are of the same kind if they agree in argument types and flags, and in dtypes and ranks of tensors.
        """
        leaves, spec = pytree.tree_flatten((self.args, self.kwargs))
        return (*map(_leaf_kind, leaves), str(spec))


def _leaf_kind(leaf: Any) -> object:
    """Return a key that is equal for two arguments of the same kind.

    The key is dtype and rank of a tensor, the value of a flag, a text or a zero, and the type of any other argument.
    """
    if isinstance(leaf, torch.Tensor):
        return str(leaf.dtype), min(leaf.dim(), 3)
    return leaf if isinstance(leaf, (bool, str)) or leaf == 0 else type(leaf).__name__


def _possible_names(op: Any) -> Iterator[tuple[str, str]]:
    """Yield the public torch names that an OpInfo entry may test, each as a pair with an empty text."""
    base = op.name if op.name.startswith(_NAMESPACED) else op.name.split(".")[-1]
    yield f"torch.{base}", ""
    for alias in op.aliases:
        yield f"torch.{alias.name}", ""
        if "." not in alias.name:
            yield f"torch.Tensor.{alias.name}", ""
            yield f"torch.Tensor.{alias.name}_", ""
    for variant in (op.method_variant, op.inplace_variant, op.operator_variant, op.inplace_operator_variant):
        name = getattr(variant, "__name__", None)
        if name is not None and name != "<lambda>":
            yield f"torch.Tensor.{name}", ""
            yield f"torch.Tensor.__{name.strip('_')}__", ""
    if "." not in base:
        yield f"torch.Tensor.{base}", ""
        yield f"torch.Tensor.{base}_", ""


@cache
def _opinfos_by_name() -> dict[str, list[Any]]:
    """Return the OpInfo entries that give samples of each public torch callable, by canonical name."""
    known = public_names.functions() | public_names.methods()
    table: dict[str, list[Any]] = {}
    for op in op_db:
        for name, _ in dict.fromkeys(_possible_names(op)):
            canonical = public_names.aliases().get(name, name)
            if canonical in known and op not in table.setdefault(canonical, []):
                table[canonical].append(op)
        real = next((n for n, f in public_names.functions().items() if f is op.op), None)
        if real is not None and op not in table.setdefault(real, []):
            table[real].append(op)
    for dunder, function in _DUNDER_TWINS.items():
        if function in table and dunder in known:
            table.setdefault(dunder, table[function])
    return table


def _dunder_twins() -> dict[str, str]:
    """Return the torch function that computes the same as a special method of tensors, by the method's qualified name.

    For example, ``torch.Tensor.__and__`` is mapped to ``torch.bitwise_and``.
    """
    other = {
        "truediv": "true_divide",
        "floordiv": "floor_divide",
        "mod": "remainder",
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "lshift": "bitwise_left_shift",
        "rshift": "bitwise_right_shift",
        "pos": "positive",
        "invert": "bitwise_not",
    }
    twins = {}
    for name in (*public_names.OPERATORS, *public_names.COMPARISONS, *public_names.UNARY):
        for side in ("", "r", "i") if name in public_names.OPERATORS else ("",):
            twins[f"torch.Tensor.__{side}{name}__"] = "torch." + other.get(name, name)
    return twins


_DUNDER_TWINS = _dunder_twins()
"""Functions whose samples serve for a special method, by the method's name."""


def _seed_generators() -> None:
    """Seed the random generators of Python, NumPy and torch, so that samples do not depend on earlier ones."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


def _op_samples(op: Any, dtype: torch.dtype) -> Iterator[SampleCall]:
    """Yield the sample calls that an OpInfo entry generates with operands of one dtype on the CPU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
                yield SampleCall((sample.input, *sample.args), dict(sample.kwargs))
        except Exception:  # a sample generator may need what this build lacks
            return


@cache
def _calls_of_op(index: int) -> tuple[SampleCall, ...]:
    """Return a few sample calls of the OpInfo entry at this position in torch's database, one of each kind.

    Kinds differ in argument types, flags, and dtypes and ranks of tensors.
    """
    _seed_generators()
    op: Any = op_db[index]
    supported = op.supported_dtypes("cpu")
    dtype = next((d for d in (torch.float32, torch.int64, torch.bool, torch.complex64) if d in supported), None)
    if dtype is None:
        return ()
    kept: dict[tuple[object, ...], SampleCall] = {}
    for number, call in enumerate(_op_samples(op, dtype)):
        if element_count(call) <= 20_000:
            kept.setdefault(call.kind(), call)
        if number >= _MAX_GENERATED or len(kept) >= _MAX_SAMPLES:
            break
    return tuple(kept.values())


def element_count(call: SampleCall) -> int:
    """Return the total number of elements of all tensors among a call's arguments."""
    return sum(t.numel() for t in pytree.tree_leaves((call.args, call.kwargs)) if isinstance(t, torch.Tensor))


@cache
def _op_index() -> dict[int, int]:
    """Return the position of each OpInfo entry in torch's list of entries, by the ``id`` of the entry."""
    return {id(op): index for index, op in enumerate(op_db)}


def _name_of_same_samples(name: str) -> str | None:
    """Return the name of another torch callable whose sample calls also fit ``name``, None if there is none.

    There is one for in-place functions and for deprecated initializers such as ``torch.nn.init.uniform``.
    """
    prefix, _, base = name.rpartition(".")
    if prefix == "torch.nn.init" and not base.endswith("_"):
        return name + "_" if name + "_" in public_names.functions() else None
    if prefix == "torch" and base.endswith("_"):
        return f"torch.Tensor.{base}" if f"torch.Tensor.{base}" in public_names.methods() else None
    return name.rstrip("_") if prefix == "torch.nn.functional" and base.endswith("_") else None


def calls(name: str) -> list[SampleCall]:
    """Return sample calls of the public torch callable ``name``; the list is empty if none are known."""
    _seed_generators()
    by_hand = [SampleCall(args, {}) for args in handwritten_samples.calls(name)]
    if by_hand:
        return by_hand
    twin = _name_of_same_samples(name)
    if twin is not None:
        return calls(twin)
    found: list[SampleCall] = []
    for op in _opinfos_by_name().get(name, []):
        found += _calls_of_op(_op_index()[id(op)])
    return found[: 2 * _MAX_SAMPLES]
