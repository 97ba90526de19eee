"""Models of the constructors from before torch 0.4: `torch.FloatTensor` and its kin, and `Variable`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.device import CPU
from devlint.domain.dtype import Dtype, DtypeSource
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement, StepKind
from devlint.domain.value import UNKNOWN, Array, Const, Number, Rank, Size, Sizes, Tensor, Value, as_tensor
from devlint.interpreter.library.tensor_constructors import placement_after_array, report_rebuilt_tensor
from devlint.interpreter.operations.device_arguments import host_placement
from devlint.interpreter.operations.empty_tensors import empty_sizes_of_data, empty_sizes_of_shape
from devlint.interpreter.operations.hard_coded_devices import report_hard_coded_type
from devlint.interpreter.operations.tensor_ranks import rank_of_data, rank_of_shape
from devlint.interpreter.operations.tensor_types import LEGACY_ACCELERATORS, legacy_type, legacy_type_names
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.events import LegacyTypeUsed
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call
from devlint.syntax.tree_walk import dotted_name

_TAKEN: Final = frozenset({"cdata", "data", "device", "other", "size", "storage"})
"""The keywords of the constructors; `dtype` and `requires_grad` are none of them."""


@models_call(
    "torch.Tensor",
    *legacy_type_names(),
    *(name for kind in LEGACY_ACCELERATORS for name in legacy_type_names(f"torch.{kind}")),
)
def typed_constructor(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.Tensor(...)`, `torch.LongTensor(...)` and `torch.cuda.FloatTensor(...)`: a tensor of that type."""
    _report_accelerator_type(frame, call)
    if not _TAKEN.issuperset(call.arguments.keywords):
        frame.fail()
        return UNKNOWN
    if any(isinstance(argument.value, Tensor) for argument in call.arguments) or "device" in call.arguments.keywords:
        # A type of the host raises for another device, so that a tensor is only there on the way with the right one.
        return Tensor()
    found = legacy_type(frame, call.name, frame.step(StepKind.CREATED, f"created by `{call.name}`", call.node))
    dtype = found[1] if found is not None else Dtype("float32", DtypeSource.EXPLICIT)
    placement: Placement
    if found is not None and found[0].device != CPU:
        placement = found[0]
    elif frame.state.torch_state.default_device == UNKNOWN_PLACEMENT:
        placement = UNKNOWN_PLACEMENT
    else:
        # The default tensor type decides the placement; the default device is ignored.
        placement = host_placement(frame, call.name, call.node)
    fresh = None
    match call.arguments.positional:
        case [Argument(value=Array() as array) as data]:
            placement, fresh = placement_after_array(array, placement), array.fresh
            report_rebuilt_tensor(frame, call, data, array, placement)
    sizes = _empty_sizes(frame, call) if call.arguments.complete else None
    return Tensor(placement, dtype, _rank(frame, call), grad=False, leaf=True, fresh=fresh, empty_sizes=sizes)


def _rank(frame: Frame, call: LibraryCall) -> Rank:
    """Return the rank of the tensor that a typed constructor makes: numbers are sizes, a list is data."""
    given = call.arguments.positional
    if not call.arguments.complete or not given:
        return Rank.SOME
    sizes = isinstance(given[0].value, (Const, Number, Size))
    found = rank_of_shape(frame, given) if sizes else rank_of_data(frame, given[0].value)
    return found if found.is_dimensioned else Rank.SOME


def _empty_sizes(frame: Frame, call: LibraryCall) -> Sizes | None:
    """Return the sizes of the tensor that a typed constructor makes if it surely has no elements, else None.

    Numbers are sizes; anything else is data. Without an argument, the tensor has no elements.
    """
    given = call.arguments.positional
    if not given:
        return (0,)
    if isinstance(given[0].value, (Const, Number, Size)):
        return empty_sizes_of_shape(frame, given)
    return empty_sizes_of_data(frame, given[0].value)


def _report_accelerator_type(frame: Frame, call: LibraryCall) -> None:
    """Report a hard-coded device for a call that the program's source writes as `torch.cuda.FloatTensor(...)`.

    Calls through another name, such as a variable that holds one of several tensor types, are not reported.
    """
    written = dotted_name(call.node.func) if isinstance(call.node, cst.Call) else None
    package = call.name.rpartition(".")[0].rpartition(".")[2]
    if written is not None and package in LEGACY_ACCELERATORS and f".{package}." in f".{written}":
        report_hard_coded_type(frame, package, call.node, written)


@models_call("torch.autograd.Variable", "torch.autograd.variable.Variable")
def variable(frame: Frame, call: LibraryCall) -> Value:
    """Model `Variable(x)`: the tensor itself, as in torch since 0.4; a leaf if the call requires a gradient."""
    frame.emit(LegacyTypeUsed(frame.event_context(call.node), call.name))
    given = call.arguments.value("data", 0)
    tensor = as_tensor(given) if given is not None else None
    requires = call.arguments.constant("requires_grad", 1, False)
    if tensor is None or requires is False:
        return given if given is not None else UNKNOWN
    return replace(tensor, grad=requires if isinstance(requires, bool) else None, leaf=True)
