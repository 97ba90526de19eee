"""Construction and calls of library modules such as `nn.Linear`, by their rows of devlint's semantics table."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.objects import Instance, ParameterCell
from devlint.domain.placement import StepKind
from devlint.domain.value import NONE, Const, Number, Ref, Tensor, Value
from devlint.interpreter.objects.module_state import display_name, library_class_name, parameter_operand
from devlint.interpreter.operations.device_arguments import default_placement, is_absent_or_none, requested_placement
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.operations.table_operations import apply_row
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import ModuleRow, Row


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
        return _cell_from_argument(frame, module, argument, arguments)
    if not any(_creates_tensors(module, one, arguments) for one in (module.parameters, module.buffers)):
        return None
    device, dtype = (arguments.get(key, _position(module, key)) for key in ("device", "dtype"))
    short = display_name(Instance(name, {}))
    if device is not None and not is_absent_or_none(device.value):
        step = frame.step(StepKind.CREATED, f"{short} is created", node)
        placement = requested_placement(frame, device.value, device.node, step)
    else:
        placement = default_placement(frame, short, node)
    given = dtype.value if dtype is not None else NONE
    made = frame.state.torch_state.default_dtype if given == NONE else requested_dtype(given)
    return ParameterCell(placement, made)


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


def _cell_from_argument(frame: Frame, module: ModuleRow, argument: str, arguments: Arguments) -> ParameterCell | None:
    """Return the heap record of placement and dtype for a tensor argument that a library module keeps as its buffer.

    None when the argument is no tensor.
    """
    given = arguments.value(argument, _position(module, argument))
    if isinstance(given, Tensor):
        settled = frame.resolve(given)
        return ParameterCell(settled.placement, settled.dtype, False)
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
