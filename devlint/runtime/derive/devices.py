"""Device cells: operands of a fake cuda:0 call flipped to the host one by one, under the checks that eager CUDA makes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torchgen.model import DeviceCheckType, NativeFunction

from devlint.runtime.derive.classify import Cells, Subject, base
from devlint.runtime.derive.probe import operands, replace, tensors_of
from devlint.runtime.derive.samples import Call
from devlint.runtime.derive.signatures import native_functions

HOST, ACCELERATOR = torch.device("cpu"), torch.device("cuda:0")
_MANY_SCALARS = frozenset({"where", "_foreach_add", "_foreach_mul"})
_ANY_DEVICE = frozenset({"copy_", "copy", "_to_copy", "set_", "expand_as", "view_as", "reshape_as", "resize_as_",
                         "is_same_size", "index", "index_put_", "index_put", "_index_put_impl_", "_unsafe_index",
                         "slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter"})


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
        if native.device_check is DeviceCheckType.ExactSame and _has_backend_kernel(native):
            raise DeviceClash(f"{func}: wrapper")
        if native.device_check is DeviceCheckType.NoCheck and _iterates(native):
            if len(on_host) > 1 or on_host[0].dim() > 0:
                raise DeviceClash(f"{func}: more than one host operand")


def _has_backend_kernel(native: NativeFunction) -> bool:
    return not native.has_composite_implicit_autograd_kernel and not native.has_composite_explicit_autograd_kernel


def _iterates(native: NativeFunction) -> bool:
    return native.structured or native.structured_delegate is not None or "pointwise" in native.tags


def _accepts(subject: Subject, call: Call, places: dict[int, torch.device]) -> Any:
    """The fake result's devices, or None where the call is refused."""
    mode = FakeTensorMode(allow_non_fake_inputs=False)
    with torch.no_grad(), warnings.catch_warnings(), mode:
        warnings.simplefilter("ignore")
        fake = call.map_tensors(lambda t: torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device=places[id(t)]))
        fake = Call(fake.args, _device_kwargs(fake.kwargs))
        try:
            with EagerChecks():
                result = subject.function(*fake.args, **fake.kwargs)
        except DynamicOutputShapeException:
            return "accepted"
        except Exception as error:  # noqa: BLE001 - the probe asks whether it raises
            return "accepted" if _beyond_the_check(error) else None
        return tuple(str(t.device) for t in tensors_of(result))


def _beyond_the_check(error: Exception) -> bool:
    return type(error).__name__ in ("DataDependentOutputException", "DynamicOutputShapeException",
                                    "UnsupportedOperatorException")


def _device_kwargs(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {n: (ACCELERATOR if n == "device" and v is not None else v) for n, v in kwargs.items()}


def _places(given: dict[str, torch.Tensor], default: torch.device, flipped: dict[str, torch.device]) -> dict[int, torch.device]:
    return {id(t): flipped.get(name, default) for name, t in given.items()}


def cells(subject: Subject) -> Cells:
    """``same``, ``scalars``, ``index``, ``free`` and ``device`` as the fake device tells them."""
    tied: set[str] = set()
    loose: dict[str, set[str]] = {}
    seen: set[str] = set()
    sources: list[set[str]] = []
    for call, given in _usable(subject):
        whole = _accepts(subject, call, _places(given, ACCELERATOR, {}))
        if whole is None:
            continue
        sources.append(set(whole) if isinstance(whole, tuple) else {"cuda:0"})
        names = list(given)
        for name in names:
            if given[name].dim() == 0 or len(names) < 2:
                continue
            seen.add(base(name))
            if _accepts(subject, call, _places(given, ACCELERATOR, {name: HOST})) is None:
                tied.add(base(name))
            else:
                back = _accepts(subject, call, _places(given, HOST, {name: ACCELERATOR}))
                loose.setdefault(base(name), set()).add("index" if back is None else "free")
    row: Cells = {}
    loose = {n: kinds for n, kinds in loose.items() if n not in tied}
    if len(seen) > 1 and tied and loose:
        row["index"] = [n for n in subject.tensor_names if "index" in loose.get(n, ())]
        row["free"] = [n for n in subject.tensor_names if loose.get(n) == {"free"}]
    if len(tied) > 1 or any(base(n) in tied and "[" in n for c, g in _usable(subject) for n in g):
        row["scalars"] = _scalars(subject, tied)
    if sources and all(s == {"cpu"} for s in sources):
        row["device"] = "host"
    return {k: v for k, v in row.items() if v not in ([], 0)}


def _usable(subject: Subject) -> Iterator[tuple[Call, dict[str, torch.Tensor]]]:
    for call, _ in subject.runs[:6]:
        given = operands(subject.bound(call))
        leaves = [t for t in pytree.tree_leaves((call.args, call.kwargs)) if isinstance(t, torch.Tensor)]
        strided = all(t.layout is torch.strided and not t.is_quantized for t in leaves)
        if given and strided and len(given) == len(leaves):
            yield call, given


def _scalars(subject: Subject, tied: set[str]) -> int | str:
    """How many 0-dim host operands pass beside an accelerator operand: the most any sample shows."""
    counts: list[int | str] = []
    for call, given in _usable(subject):
        names = [n for n in given if base(n) in tied]
        if len(names) < 2:
            continue
        zero = {n: torch.ones((), dtype=given[n].dtype) for n in names}
        singles = []
        for name in names:
            changed = replace(call, subject.overloads, {name: zero[name]})
            if subject.run(changed).error:
                continue
            if _accepts(subject, changed, _moved(subject, changed, {name})) is not None:
                singles.append(name)
        counts.append(1 if singles else 0)
        if len(names) > 2 and len(singles) > 1:
            pair = set(singles[:2])
            changed = replace(call, subject.overloads, {n: zero[n] for n in pair})
            if not subject.run(changed).error and _accepts(subject, changed, _moved(subject, changed, pair)) is not None:
                counts.append("many")
    return "many" if "many" in counts else 1 if 1 in counts else 0


def _moved(subject: Subject, call: Call, to_host: set[str]) -> dict[int, torch.device]:
    given = operands(subject.bound(call))
    return _places(given, ACCELERATOR, dict.fromkeys(to_host, HOST))
