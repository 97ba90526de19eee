"""Which check eager PyTorch makes of an operator's devices, and whether the host has to wait for its result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch

from devlint.runtime import errors
from devlint.runtime.errors import NotEmulated
from devlint.runtime.labels import FLOATING, UNKNOWN_HOST, Place, cell_of
from devlint.runtime.schema import Native, natives


class Regime(Enum):
    """Who checks that operands share a device."""

    WRAPPER = "the generated wrapper: every positional tensor, 0-dim ones too"
    ITERATOR = "TensorIterator: one 0-dim host operand may stay"
    SCALARS = "any number of 0-dim host operands may stay"
    FOREACH = "the slow path of a foreach kernel: index by index"
    FREE = "nobody: devices may differ"
    UNKNOWN = "a custom operator"


FREE = {
    "copy_", "copy", "_copy_from", "is_same_size", "set_", "resize_as_", "_has_same_storage_numel", "_make_dual",
    "_new_zeros_with_same_feature_meta", "slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter",
    "slice_inverse", "is_set_to", "fill", "fill_", "_make_dual_copy", "_to_copy", "empty_like", "view_as", "expand_as",
    "_foreach_copy_", "_foreach_copy", "_pad_packed_sequence", "mkldnn_rnn_layer", "mkldnn_rnn_layer_backward",
    "_ctc_loss", "_ctc_loss_backward",
}  # fmt: skip
SCALARS = {"where", "_foreach_where"}

KERNEL_CHECKED = {"searchsorted", "segment_reduce"}
"""Operators whose kernel compares keyword-only tensors too, at which the generated wrapper does not look."""

INNER: dict[str, tuple[str, dict[str, str]]] = {
    "embedding": ("index_select", {"weight": "self", "indices": "index"}),
    "stack": ("cat", {}),
    "_stack": ("cat", {}),
    "masked_scatter": ("masked_scatter_", {}),
    "put": ("put_", {}),
    "_batch_norm_no_update": ("native_batch_norm", {}),
    "_native_batch_norm_legit_no_training": ("native_batch_norm", {}),
}
"""Composites with no check of their own: the operator inside that complains, and what it calls their arguments."""

WAITS = {
    "_local_scalar_dense": "item",
    "equal": "equal",
    "allclose": "allclose",
    "nonzero": "nonzero",
    "masked_select": "masked_select",
    "is_nonzero": "bool",
}
"""Operators whose result the host needs before it can go on."""


@dataclass(slots=True)
class Plan:
    """What the dispatch mode has to know of one overload."""

    name: str
    regime: Regime
    method: str
    checked: tuple[tuple[int, str], ...]
    waits: str | None
    factory: bool
    random: bool
    view: bool
    writes: tuple[int, ...]
    special: Any = None

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise what eager PyTorch raises for operands on several devices."""
        if self.regime is Regime.FREE:
            return
        if self.regime is Regime.UNKNOWN:
            raise NotEmulated(f"operands on several devices for {self.name}")
        if self.regime is Regime.WRAPPER:
            self._check_wrapper(args, kwargs)
        elif self.regime is Regime.FOREACH:
            self._check_foreach(args)
        else:
            check_iterator(_operands(args, kwargs), many=self.regime is Regime.SCALARS)

    def _check_wrapper(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        common: Place | None = None
        for index, name in self.checked:
            value = kwargs.get(name) if index < 0 else args[index] if index < len(args) else None
            for tensor in value if isinstance(value, list | tuple) else (value,):
                if not isinstance(tensor, torch.Tensor):
                    continue
                place = settled(tensor)
                if place is None:
                    continue
                if common is None:
                    common = place
                elif place.key != common.key:
                    raise errors.argument_device(name, place.device, common.device, self.method)

    def _check_foreach(self, args: tuple[Any, ...]) -> None:
        lists = [a for a in args if isinstance(a, list | tuple) and a and isinstance(a[0], torch.Tensor)]
        single = [a for a in args if isinstance(a, torch.Tensor)]
        for row in zip(*lists, strict=False):
            check_iterator([*row, *single], many=False)


def settled(tensor: torch.Tensor) -> Place | None:
    """A tensor's place; None while it floats, because then it goes wherever its first partner is."""
    cell = cell_of(tensor)
    if cell is None:
        return UNKNOWN_HOST
    return None if cell.place is FLOATING else cell.place


def _operands(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(v for v in value if isinstance(v, torch.Tensor))
    return found


def has_float64(args: tuple[Any, ...]) -> bool:
    """Whether an operand is float64 already."""
    for value in args:
        for tensor in value if isinstance(value, list | tuple) else (value,):
            if isinstance(tensor, torch.Tensor) and tensor.dtype is torch.float64:
                return True
    return False


def check_iterator(tensors: list[torch.Tensor], *, many: bool) -> None:
    """TensorIterator's check: the first accelerator decides; 0-dim host operands are let through, one or `many`."""
    placed = [(tensor, place) for tensor in tensors if (place := settled(tensor)) is not None]
    common = next((place for _, place in placed if place.key), None)
    if common is None:
        return
    let_through = 0
    for tensor, place in placed:
        if place.key == common.key:
            continue
        if place.key == 0 and tensor.dim() == 0:
            let_through += 1
            if let_through > 1 and not many:
                raise errors.too_many_host_scalars()
            continue
        raise errors.two_devices(common.device, place.device)


def _regime(name: str, native: Native | None) -> Regime:
    if native is None:
        return Regime.UNKNOWN
    if name in FREE:
        return Regime.FREE
    if name in SCALARS:
        return Regime.SCALARS
    if name.startswith("_foreach_"):
        return Regime.FOREACH
    if native.checked and (native.cuda or name in INNER):
        return Regime.WRAPPER
    return Regime.ITERATOR


def plan_for(func: torch._ops.OpOverload) -> Plan:
    """Work out the plan of one overload from its schema and the native table."""
    schema = func._schema
    base = schema.name.partition("::")[2]
    overload = schema.overload_name
    native = natives().get(f"{base}.{overload}" if overload else base) if schema.name.startswith("aten::") else None
    inner, renamed = INNER.get(base, (base, {}))
    checked: list[tuple[int, str]] = []
    writes: list[int] = []
    for index, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write and not argument.kwarg_only:
            writes.append(index)
        if "Tensor" not in str(argument.type):
            continue
        if argument.is_out:
            checked.insert(0, (-1, argument.name))
        elif not argument.kwarg_only:
            checked.append((index, renamed.get(argument.name, argument.name)))
        elif base in KERNEL_CHECKED:
            checked.append((-1, argument.name))
    method = native.method if native else base
    if inner != base:
        method = natives()[inner].method
    tensors = [a for a in schema.arguments if "Tensor" in str(a.type)]
    aliases = [a for a in schema.arguments if a.alias_info is not None]
    return Plan(
        name=base,
        regime=_regime(base, native),
        method=method,
        checked=tuple(checked),
        waits=WAITS.get(base) or ("size" if torch.Tag.dynamic_output_shape in func.tags else None),
        factory=not tensors,
        random=any(a.name == "generator" for a in schema.arguments) or torch.Tag.nondeterministic_seeded in func.tags,
        view=bool(aliases) and not any(a.alias_info is not None and a.alias_info.is_write for a in aliases),
        writes=tuple(writes),
    )
