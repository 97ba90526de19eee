"""The events of comparisons between devices and device strings, and which operands they concern."""

from __future__ import annotations

import libcst as cst

from devlint.domain.value import ConditionalValue, Const, StringPrefix, Unknown, Value
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.private_definitions import is_private_name
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.events import DevicesCompared
from devlint.interpreter.state.frame import Frame


def may_be_text(value: Value) -> bool:
    """Return whether a value may be a string, and so may name a device.

    It may if it is a string constant, a parameter with a `str` annotation or a string default, or an unknown value
    without a name.
    """
    match value:
        case Const(value=str()) | StringPrefix() | Unknown(origin=None):
            return True
        case ConditionalValue(yes=yes, no=no):
            return may_be_text(yes) or may_be_text(no)
        case Unknown(origin=("param", FunctionInfo() as info, str(name))):
            parameter = next((one for one in info.parameters if one.name == name), None)
            return parameter is not None and (
                isinstance(parameter.default, cst.SimpleString) or "str" in info.annotation_last_names(name)
            )
    return False


def may_be_given_as_device(frame: Frame, given: Argument) -> bool:
    """Return whether an operand is unknown, and code that is not known may choose a `torch.device` for it.

    A parameter's default is only what some calls pass. The calls of a private function are known, and so is the type
    of a parameter that is annotated as a string.
    """
    match given:
        case Argument(node=cst.Name(value=name)) if frame.function is not None and _is_text(frame.function, name):
            return False
        case Argument(value=Unknown(origin=None)):
            return True
        case Argument(value=Unknown(origin=("param", FunctionInfo() as info, str(name)))):
            return not _is_text(info, name) and not is_private_name(info.name.rpartition(".")[2])
    return False


def _is_text(info: FunctionInfo, name: str) -> bool:
    """Return whether the annotation of a function's parameter says that it is a string, or else None."""
    names = info.annotation_last_names(name)
    return "str" in names and names <= {"str", "Optional", "None"}


def report_device_comparison(
    frame: Frame, node: cst.Comparison, operator: str, left: Argument, right: Argument
) -> None:
    """Report to the rules the comparison of two values, each of which is a device or may be a device string."""
    frame.emit(
        DevicesCompared(
            frame.event_context(node), operator, left.value, right.value, _written_device(right), _written_device(left)
        )
    )


def _written_device(argument: Argument) -> str | None:
    """Return the device string that an operand writes out, directly or inside `torch.device(...)`.

    The result is None for any other operand.
    """
    match argument.node:
        case cst.Call(args=[cst.Arg(value=cst.SimpleString() as string), *_]) | (cst.SimpleString() as string):
            value = string.evaluated_value
            return value if isinstance(value, str) else None
    return argument.value.value if isinstance(argument.value, Const) and isinstance(argument.value.value, str) else None
