"""Device cells: operands of a fake cuda:0 call flipped to the host one by one, under the checks that eager CUDA makes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torchgen.model import DeviceCheckType, NativeFunction

from devlint.runtime.derive.probe import base, operands, replace, run, tensors_of
from devlint.runtime.derive.samples import Call
from devlint.runtime.derive.signatures import has_cuda_kernel, native_functions
from devlint.runtime.derive.subject import Cells, Subject, Trial

HOST, ACCELERATOR = torch.device("cpu"), torch.device("cuda:0")
_MANY_SCALARS = frozenset({"where", "_foreach_add", "_foreach_mul"})
_ANY_DEVICE = frozenset({"copy_", "copy", "_to_copy", "set_", "expand_as", "view_as", "reshape_as", "resize_as_",
                         "is_same_size", "index", "index_put_", "index_put", "_index_put_impl_", "_unsafe_index",
                         "slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter"})

# Composites whose inner call is checked by a wrapper; FakeTensorMode does not look inside them.
_STRICT_COMPOSITES = frozenset({"block_diag", "complex", "polar", "embedding", "masked_scatter", "put"})
_BEYOND_THE_CHECK = frozenset({"DataDependentOutputException", "DynamicOutputShapeException",
                               "UnsupportedOperatorException"})


class DeviceClash(RuntimeError):
    """Two operands that eager CUDA would not accept together."""


@cache
def _natives() -> dict[str, NativeFunction]:
    return {str(f.func.name): f for group in native_functions().values() for f in group}


class EagerChecks(TorchDispatchMode):
    """Applies the generated wrapper's and TensorIterator's device checks, which FakeTensorMode relaxes for 0-dim tensors."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._check(func, args)
        return func(*args, **(kwargs or {}))

    def _check(self, func: Any, args: tuple[Any, ...]) -> None:
        name = func._schema.name.removeprefix("aten::")
        overload = func._schema.overload_name
        native = _natives().get(f"{name}.{overload}" if overload else name)
        if native is None or name in _ANY_DEVICE or name in _MANY_SCALARS:
            return
        given = [t for t in pytree.tree_leaves(args) if isinstance(t, torch.Tensor)]
        on_host = [t for t in given if t.device == HOST]
        if not on_host or len(on_host) == len(given):
            return
        if native.device_check is DeviceCheckType.ExactSame and (has_cuda_kernel(native) or name in _STRICT_COMPOSITES):
            raise DeviceClash(f"{func}: wrapper")
        if native.device_check is DeviceCheckType.NoCheck and _iterates(native):
            if len(on_host) > 1 or on_host[0].dim() > 0:
                raise DeviceClash(f"{func}: more than one host operand")


def _iterates(native: NativeFunction) -> bool:
    return native.structured or native.structured_delegate is not None or "pointwise" in native.tags


def _accepts(function: Callable[..., Any], call: Call, places: dict[int, torch.device]) -> Any:
    """The fake result's devices, or None where the call is refused."""
    def fake(tensor: torch.Tensor) -> torch.Tensor:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=places[id(tensor)])

    with torch.no_grad(), warnings.catch_warnings(), FakeTensorMode(allow_non_fake_inputs=False):
        warnings.simplefilter("ignore")
        try:
            faked = call.map_tensors(fake)
            with EagerChecks():
                result = function(*faked.args, **_device_kwargs(faked.kwargs))
        except Exception as error:  # the probe asks whether the call raises, whatever it raises
            return "accepted" if type(error).__name__ in _BEYOND_THE_CHECK else None
        return tuple(str(t.device) for t in tensors_of(result))


def _device_kwargs(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {n: (ACCELERATOR if n == "device" and v is not None else v) for n, v in kwargs.items()}


def _places(given: dict[str, torch.Tensor], default: torch.device, flipped: dict[str, torch.device]) -> dict[int, torch.device]:
    return {id(t): flipped.get(name, default) for name, t in given.items()}


def cells(subject: Subject) -> Cells:
    """``index``, ``free``, ``scalars`` and ``device`` as the fake device tells them."""
    tied: set[str] = set()
    loose: dict[str, set[str]] = {}
    sources: list[set[str]] = []
    for trial, given in _usable(subject):
        whole = _accepts(trial.function, trial.call, _places(given, ACCELERATOR, {}))
        if whole is None:
            continue
        sources.append(set(whole) if isinstance(whole, tuple) else {"cuda:0"})
        for name in given if len(given) > 1 else ():
            if given[name].dim() > 0:
                verdict = _flipped(trial, given, name)
                tied |= {base(name)} if verdict == "tied" else set()
                loose.setdefault(base(name), set()).add(verdict)
    row: Cells = {}
    loose = {n: kinds for n, kinds in loose.items() if n not in tied}
    if tied and loose:
        row["index"] = [n for n in subject.tensor_names if "index" in loose.get(n, ())]
        row["free"] = [n for n in subject.tensor_names if loose.get(n) == {"free"}]
    row["scalars"] = _scalars(subject, tied)
    if sources and all(s == {"cpu"} for s in sources):
        row["device"] = "host"
    return row


def _flipped(trial: Trial, given: dict[str, torch.Tensor], name: str) -> str:
    """How one operand takes being alone on the other device."""
    if _accepts(trial.function, trial.call, _places(given, ACCELERATOR, {name: HOST})) is None:
        return "tied"
    back = _accepts(trial.function, trial.call, _places(given, HOST, {name: ACCELERATOR}))
    return "index" if back is None else "free"


def _usable(subject: Subject) -> Iterator[tuple[Trial, dict[str, torch.Tensor]]]:
    for trial in subject.few():
        given = operands(subject.bound(trial.call))
        leaves = [t for t in pytree.tree_leaves((trial.call.args, trial.call.kwargs)) if isinstance(t, torch.Tensor)]
        strided = all(t.layout is torch.strided and not t.is_quantized for t in leaves)
        if given and strided and len(given) == len(leaves):
            yield trial, given


def _scalars(subject: Subject, tied: set[str]) -> int | str:
    """How many 0-dim host operands pass beside an accelerator operand: the most any sample shows."""
    most = 0
    for trial, given in _usable(subject):
        names = [n for n in given if base(n) in tied]
        if len(names) < 2:
            continue
        singles = [n for n in names if _passes_as_scalar(subject, trial, given, {n})]
        if any(_passes_as_scalar(subject, trial, given, set(p)) for p in combinations(singles, 2) if len(names) > 2):
            return "many"
        most = max(most, min(len(singles), 1))
    return most


def _passes_as_scalar(subject: Subject, trial: Trial, given: dict[str, torch.Tensor], names: set[str]) -> bool:
    changed = replace(trial.call, subject.overloads, {n: torch.ones((), dtype=given[n].dtype) for n in names})
    if run(trial.function, subject.overloads, changed).error:
        return False
    places = _places(operands(subject.bound(changed)), ACCELERATOR, dict.fromkeys(names, HOST))
    return _accepts(trial.function, changed, places) is not None
