"""Construction and calls of library modules such as `nn.Linear`, by their rows of devlint's semantics table."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import alternatives
from devlint.domain.objects import Instance, ParameterCell, join_parameter_cells
from devlint.domain.placement import UNKNOWN_PLACEMENT, StepKind, extend_provenance
from devlint.domain.value import NONE, Const, Number, Ref, Tensor, Value
from devlint.interpreter.objects.module_state import display_name, library_class_name, module_tensors, parameter_operand
from devlint.interpreter.operations.device_arguments import default_placement, is_absent_or_none, requested_placement
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.operations.dtype_origins import dtype_with_origin
from devlint.interpreter.operations.table_operations import apply_row
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import ModuleRow, Row

_WEIGHS_CLASSES: Final = frozenset({"torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss", "torch.nn.MultiMarginLoss"})
"""The losses whose weight has one number for each class; that of other losses may be a single number, of any device."""


def construct_library_module(frame: Frame, name: str, row: Row, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Allocate the module that a constructor such as `nn.Linear(...)` returns, with the parameters of its own, if any.

    Constructor arguments that are numbers or constants become attributes of the module.
    """
    assert row.module is not None
    given = {key: arguments.value(key, position) for position, key in enumerate(row.module.init)}
    settings: dict[str, Value] = {key: value for key, value in given.items() if isinstance(value, (Const, Number))}
    return frame.allocate(
        node, Instance(name, settings, cell=library_module_parameters(frame, name, row, arguments, node))
    )


def library_module_parameters(
    frame: Frame, name: str, row: Row, arguments: Arguments, node: cst.CSTNode
) -> ParameterCell | None:
    """Return the heap record of placement and dtype that the parameters of a new library module share.

    None for a module without parameters and buffers.
    """
    assert row.module is not None
    module = row.module
    kind, _, argument = module.buffers.partition(":")
    if module.parameters == "never" and kind == "arg":
        return _cell_from_argument(frame, name, module, argument, arguments)
    if _consists_of_copies(name, module):
        return _cell_of_copies(frame, name, arguments.value(module.init[0], 0), node)
    if not any(_creates_tensors(module, one, arguments) for one in (module.parameters, module.buffers)):
        return None
    device, dtype = (arguments.get(key, _position(module, key)) for key in ("device", "dtype"))
    short = display_name(Instance(name, {}))
    if device is not None and not is_absent_or_none(device.value):
        step = frame.step(StepKind.CREATED, f"created by `{short}`", node)
        placement = requested_placement(frame, device.value, device.node, step)
    else:
        placement = default_placement(frame, short, node)
    given = dtype.value if dtype is not None else NONE
    made = frame.state.torch_state.default_dtype if given == NONE else requested_dtype(given)
    return ParameterCell(placement, dtype_with_origin(frame, made, short, node, () if given == NONE else ("dtype",)))


def _position(module: ModuleRow, argument: str) -> int | None:
    """Return the position of an argument of a library module's constructor; None if it is passed by name only."""
    return module.init.index(argument) if argument in module.init else None


def _creates_tensors(module: ModuleRow, rule: str, arguments: Arguments) -> bool:
    """Return whether a library module's constructor creates parameters (or buffers), by a rule of the module's row.

    The row is that of devlint's semantics table. The rule `if:NAME` depends on the constructor argument NAME; `never`
    and `arg:NAME` create none.
    """
    kind, _, argument = rule.partition(":")
    if kind != "if":
        return kind not in ("never", "arg")
    default = module.defaults.get(argument, True)
    return arguments.constant(argument, _position(module, argument), default) not in (False, None)


def _consists_of_copies(name: str, module: ModuleRow) -> bool:
    """Return whether a library module consists of copies of its first argument, as `nn.TransformerEncoder(layer, 6)`.

    In `torch.nn`, every module that makes parameters of its own takes a device for them. Other libraries do not keep
    to that.
    """
    takes_device = module.factory_kwargs or "device" in module.init
    return name.startswith("torch.nn.") and module.parameters == "always" and bool(module.init) and not takes_device


def _cell_of_copies(frame: Frame, name: str, layer: Value | None, node: cst.CSTNode) -> ParameterCell:
    """Return the heap record of placement and dtype of a library module that consists of deep copies of a layer.

    Both are unknown where the parameters of the layer are.
    """
    layers = alternatives(layer) if layer is not None else ()
    found = [[tensor.cell for _, tensor in module_tensors(frame, one)] for one in layers]
    cells = [frame.cell(address) for addresses in found for address in addresses if address is not None]
    known = [cell for cell in cells if cell is not None]
    if not known or not all(found):
        return ParameterCell(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
    short = display_name(Instance(name, {}))
    joined = join_parameter_cells(known)
    placement = extend_provenance(
        joined.placement,
        lambda previous: frame.step(
            StepKind.CREATED, f"copied by `{short}` from the layer that it was given", node, previous
        ),
    )
    return ParameterCell(placement, joined.dtype, joined.grad)


def _cell_from_argument(
    frame: Frame, name: str, module: ModuleRow, argument: str, arguments: Arguments
) -> ParameterCell | None:
    """Return the heap record of placement and dtype for a tensor argument that a library module keeps as its buffer.

    The placement is unknown for what may be a 0-dim tensor. None when the argument is no tensor.
    """
    given = arguments.value(argument, _position(module, argument))
    if isinstance(given, Tensor):
        settled = frame.resolve(given)
        binds = settled.rank.is_dimensioned or name in _WEIGHS_CLASSES
        return ParameterCell(settled.placement if binds else UNKNOWN_PLACEMENT, settled.dtype, False)
    return None


def call_library_module(
    frame: Frame, owner: Ref, thing: Instance, arguments: Arguments, node: cst.CSTNode
) -> Value | None:
    """Return the result of calling a library module such as an `nn.Linear`, by its row of the semantics table.

    None for a module without a row. If the module's `reduction` is known, it counts as an argument of the call.
    """
    row = frame.analysis.table.find(library_class_name(frame, thing))
    if row is None or row.module is None:
        return None
    reduction = thing.attributes.get("reduction")
    if reduction is not None and isinstance(arguments.node, cst.BaseExpression):
        arguments = replace(
            arguments, keywords={**arguments.keywords, "reduction": Argument(reduction, arguments.node)}
        )
    return apply_row(frame, row, arguments, own=parameter_operand(frame, owner, thing, node))
