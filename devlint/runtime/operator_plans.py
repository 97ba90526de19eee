"""What the emulation must know of each torch operator.

An operator's plan tells which part of PyTorch checks that its operands share a device, and whether the host must wait
for its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch._C import DispatchKey

from devlint.runtime import tensor_iterator, torch_errors
from devlint.runtime.backends import Backend
from devlint.runtime.native_functions import NativeEntry, native_entries
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import Placement
from devlint.runtime.tensor_arguments import tensors_in
from devlint.runtime.tensor_iterator import HostScalars, Operand, decided_placement

_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key


class DeviceCheck(Enum):
    """The part of PyTorch that checks that the operands of an operator share a device, if any does."""

    WRAPPER = "the generated wrapper: every positional tensor, 0-dim ones too"
    TENSOR_ITERATOR = "TensorIterator: a 0-dim host operand may stay"
    FOREACH = "the slow path of a foreach kernel: index by index"
    COMPOSITE = "the operators that this one is composed of"
    NONE = "nobody: devices may differ"
    CUSTOM = "a custom operator"


UNCHECKED_OPERATORS = {
    "copy_", "copy", "_copy_from", "is_same_size", "set_", "resize_as_", "_has_same_storage_numel", "_make_dual",
    "_new_zeros_with_same_feature_meta", "slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter",
    "slice_inverse", "is_set_to", "fill", "fill_", "_make_dual_copy", "_to_copy", "empty_like", "view_as", "expand_as",
    "_foreach_copy_", "_foreach_copy", "mkldnn_rnn_layer", "mkldnn_rnn_layer_backward",
    "_ctc_loss", "_ctc_loss_backward", "bernoulli_",
}  # fmt: skip
"""Operators whose operands' devices may differ."""
CHECKED_BY_KERNEL = {"searchsorted", "segment_reduce"}
"""Operators whose kernel also compares keyword-only tensors, which the generated wrapper skips."""

WAITING_OPERATORS = {
    "_local_scalar_dense": "item",
    "equal": "equal",
    "allclose": "allclose",
    "nonzero": "nonzero",
    "masked_select": "masked_select",
    "is_nonzero": "bool",
}
"""Operators whose result the host needs before it can go on, with the name of the wait."""
_SIZE_KNOWN = {"index", "_unsafe_index"}
"""Operators whose result size depends on the data only if a mask is among the indices."""


def waits_for(func: torch._ops.OpOverload) -> str | None:
    """Return the name of the wait for the accelerator that an operator causes on the host, such as "item".

    Returns None if the host need not wait for the operator's result.
    """
    base = func._schema.name.partition("::")[2]
    if base in _SIZE_KNOWN or torch.Tag.dynamic_output_shape not in func.tags:
        return WAITING_OPERATORS.get(base)
    return WAITING_OPERATORS.get(base, "size")


@dataclass(slots=True)
class OperatorPlan:
    """What the emulation mode must know of one torch operator overload.

    Among this are the part of PyTorch that checks the operands' devices, and the wait that the operator causes.
    `call` runs the operator. `takes_lists` tells that there may be lists of tensors among its arguments. It is `simple`
    if nothing but the devices of its operands decides what the emulation does.
    """

    name: str
    device_check: DeviceCheck
    wrapper_name: str
    checked: tuple[tuple[int, str], ...]
    waits: str | None
    factory: bool
    random: bool
    view: bool
    writes: tuple[int, ...]
    outputs: tuple[str, ...]
    host_scalars: HostScalars
    composite_key: DispatchKey | None
    implicit_composite: bool
    takes_lists: bool
    call: Callable[..., Any]
    handler: Any = None
    dtype_check: Any = None
    casts: bool = False
    floats_only: bool = False
    simple: bool = False

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> None:
        """Check the devices of an operator's operands, and raise the error that eager PyTorch raises for them.

        `backend` tells what raises it on the emulated device.

        Nothing is raised if PyTorch allows these devices. A custom operator with operands on several devices raises
        NotEmulated, because what it allows is not known.
        """
        if self.device_check is DeviceCheck.CUSTOM:
            places = (decided_placement(tensor) for tensor in tensors_in((*args, *kwargs.values())))
            if len({place.key for place in places if place is not None}) > 1:
                raise NotEmulated(f"operands on several devices for {self.name}")
        if self.device_check is DeviceCheck.WRAPPER:
            self._check_wrapper(args, kwargs, backend)
        elif self.device_check is DeviceCheck.FOREACH:
            self._check_foreach(args)
        elif self.device_check is DeviceCheck.TENSOR_ITERATOR:
            tensor_iterator.check_operands(self._operands(args, kwargs), self.host_scalars, self.name)

    def _operands(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Operand]:
        """Yield the tensors among the arguments of an operator's call.

        Each comes with its position, which is -1 for a keyword argument, and with whether the operator writes to it.
        """
        for index, value in enumerate(args):
            for tensor in tensors_in((value,)):
                yield Operand(index, tensor, index in self.writes)
        for name, value in kwargs.items():
            for tensor in tensors_in((value,)):
                yield Operand(-1, tensor, name in self.outputs)

    def _check_wrapper(self, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend) -> None:
        """Raise the error of torch's generated C++ wrapper if an operator's tensor arguments are on several devices.

        A backend whose wrappers check nothing raises the error of its kernel.
        """
        common: Placement | None = None
        for index, name in self.checked:
            value = kwargs.get(name) if index < 0 else args[index] if index < len(args) else None
            for tensor in tensors_in((value,)):
                place = decided_placement(tensor)
                if place is None:
                    continue
                if common is None:
                    common = place
                elif place.key != common.key:
                    if not backend.checks_in_wrapper:
                        raise torch_errors.storage_not_on_mps()
                    wrapper = backend.wrapper(self.wrapper_name)
                    raise torch_errors.argument_on_other_device(name, place.device, common.device, wrapper)

    def _check_foreach(self, args: tuple[Any, ...]) -> None:
        """Check that the operands of a `_foreach_` operator may meet, for each index of the operand lists by itself.

        Raises the error that PyTorch raises if the tensors at one index are on different devices.
        """
        lists = [i for i, a in enumerate(args) if isinstance(a, list | tuple) and a and isinstance(a[0], torch.Tensor)]
        single = [Operand(i, a, False) for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        for row in zip(*(args[i] for i in lists), strict=False):
            operands = [Operand(i, tensor, i in self.writes) for i, tensor in zip(lists, row, strict=True)]
            tensor_iterator.check_operands([*operands, *single], self.host_scalars, self.name)


def has_float64(args: tuple[Any, ...]) -> bool:
    """Return whether a float64 tensor is among an operator's arguments, also inside lists and tuples."""
    return any(tensor.dtype is torch.float64 for tensor in tensors_in(args))


def _composite_dispatch_key(schema: torch._C.FunctionSchema) -> DispatchKey | None:
    """Return the dispatch key of an operator's composite kernel, which calls other operators; None if it has none."""
    name = f"{schema.name}.{schema.overload_name}".rstrip(".")
    for key in ("CompositeImplicitAutograd", "CompositeExplicitAutograd"):
        if _has_kernel(name, key):
            found: DispatchKey = getattr(DispatchKey, key)
            return found
    return None


def _device_check(name: str, native: NativeEntry | None, inside: DispatchKey | None) -> DeviceCheck:
    """Return which part of PyTorch checks that an operator's operands share a device.

    `name` is the operator's base name, `native` its entry in `native_functions.yaml` or None, and `inside` the dispatch
    key of its composite kernel or None.
    """
    if native is None:
        return DeviceCheck.CUSTOM
    if name in UNCHECKED_OPERATORS:
        return DeviceCheck.NONE
    if name.startswith("_foreach_"):
        return DeviceCheck.FOREACH
    if inside is not None:
        return DeviceCheck.COMPOSITE
    return DeviceCheck.WRAPPER if native.checked and native.cuda else DeviceCheck.TENSOR_ITERATOR


def plan_for(func: torch._ops.OpOverload) -> OperatorPlan:
    """Return the plan of an operator overload: what the emulation must know of the overload.

    It is made from the operator's schema and its entry in torch's `native_functions.yaml`.
    """
    schema = func._schema
    base = schema.name.partition("::")[2]
    overload = schema.overload_name
    native = (
        native_entries().get(f"{base}.{overload}" if overload else base) if schema.name.startswith("aten::") else None
    )
    inside = _composite_dispatch_key(schema) if native is not None and not native.cuda else None
    device_check = _device_check(base, native, inside)
    outputs = tuple(a.name for a in schema.arguments if a.is_out)
    checked = [(-1, name) for name in outputs]
    writes: list[int] = []
    for index, argument in enumerate(schema.arguments):
        tensors = "Tensor" in str(argument.type)
        if argument.kwarg_only:
            if tensors and base in CHECKED_BY_KERNEL and not argument.is_out:
                checked.append((-1, argument.name))
            continue
        if argument.alias_info is not None and argument.alias_info.is_write:
            writes.append(index)
        if tensors:
            checked.append((index, argument.name))
    aliases = [a for a in schema.arguments if a.alias_info is not None]
    return OperatorPlan(
        name=base,
        device_check=device_check,
        wrapper_name=native.wrapper_name(out=bool(outputs)) if native else base,
        checked=tuple(checked),
        waits=waits_for(func),
        factory=not any("Tensor" in str(a.type) for a in schema.arguments),
        random=any(a.name == "generator" for a in schema.arguments) or torch.Tag.nondeterministic_seeded in func.tags,
        view=bool(aliases) and not any(a.alias_info is not None and a.alias_info.is_write for a in aliases),
        writes=tuple(writes),
        outputs=outputs,
        host_scalars=tensor_iterator.allowed_host_scalars(base),
        composite_key=inside if device_check is DeviceCheck.COMPOSITE else None,
        implicit_composite=inside is DispatchKey.CompositeImplicitAutograd,
        takes_lists=any("Tensor" in str(a.type) and "List" in str(a.type) for a in schema.arguments),
        call=func._op if type(func) is torch._ops.OpOverload else func,
    )
