"""Method calls and attributes of library objects such as tokenizers, by the rows of devlint's description files."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.value import OpaqueData, Ref, Tensor, Unknown, Value
from devlint.interpreter.objects.class_hierarchy import is_autograd_function_class
from devlint.interpreter.objects.library_objects import find_member_row, object_placement
from devlint.interpreter.objects.module_state import is_module, parameter_operand
from devlint.interpreter.operations.argument_binding import bind_row_arguments
from devlint.interpreter.operations.table_operations import MODULE_PARAMETERS, apply_bound_row, apply_row
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.semantics.row import Row, parse_row


def call_library_method(frame: Frame, receiver: Ref, row: Row, arguments: Arguments) -> Value:
    """Return the result of calling or reading a method or attribute of a library object, by its semantics table row.

    If the row names the parameters of the object's module as operands, they take part in the device check.
    """
    node = arguments.node if isinstance(arguments.node, cst.BaseExpression) else cst.Name("self")
    thing = frame.instance(receiver)
    own = None
    if thing is not None and MODULE_PARAMETERS in row.same and is_module(frame, receiver):
        own = parameter_operand(frame, receiver, thing, arguments.node)
    return apply_row(frame, row, arguments, Argument(receiver, node), own=own)


def framework_arguments(frame: Frame, receiver: Ref, method: str, arguments: Arguments) -> Arguments:
    """Return the arguments that a framework passes to a method of the program, such as Lightning's `training_step`.

    The semantics table's row for the method declares which arguments the framework has moved to the object's device.
    """
    row = find_member_row(frame, receiver, method)
    if row is None or row.special != "hook":
        return arguments
    placement = object_placement(frame, receiver)
    positional = list(arguments.positional)
    for position, name in enumerate(row.params[1 : len(positional) + 1]):
        if name in row.moves and isinstance(positional[position].value, (Unknown, Tensor)):
            batch = OpaqueData(placement, origin=("batch", positional[position].node))
            positional[position] = replace(positional[position], value=batch)
    return replace(arguments, positional=positional)


def runs_without_autograd(frame: Frame, receiver: Value | None, info: FunctionInfo) -> bool:
    """Return whether code outside the program calls a method where autograd does not record.

    So does autograd itself with the methods of a custom operation, and a framework with the methods that its row in the
    semantics table says take no gradient, such as Lightning's `test_step`.
    """
    if info.owner is None:
        return False
    method = info.name.rpartition(".")[2]
    if method in ("forward", "backward") and is_autograd_function_class(frame, info.owner):
        return True
    row = find_member_row(frame, receiver, method)
    return row is not None and row.special == "hook" and row.grad == "none"


def call_by_convention(frame: Frame, arguments: Arguments) -> Value | None:
    """Return the result of an unknown library call that one argument determines, such as `return_tensors="pt"`.

    The conventions are written in devlint's description files for libraries; None when none of them applies.
    """
    for condition, cells in frame.analysis.table.models.conventions():
        name, _, wanted = condition.partition("=")
        if arguments.constant(name) == wanted:
            row = parse_row("the call", cells)
            return apply_bound_row(
                frame, row, bind_row_arguments(row, arguments, None, {}), arguments.node, complete=arguments.complete
            )
    return None
