"""The arguments of a module's `forward` that nobody annotated: used in arithmetic, they are tensors."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import Tensor, Unknown, Value, as_tensor
from devlint.interpreter.objects.class_hierarchy import is_autograd_function_class, is_module_class
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.program.usage_evidence import annotation_names
from devlint.interpreter.state.frame import Frame

NUMBERS: Final = frozenset({"int", "float", "bool", "str", "complex", "Number", "numbers.Number"})
"""Annotations of what arithmetic may meet besides tensors."""


def as_forward_operand(frame: Frame, value: Value, other: Value) -> Value:
    """An operand of arithmetic: the tensor it must be where it is an argument of a `forward`, else as it is.

    Beside a number only the first argument is: what follows it may well be a number too.
    """
    if not isinstance(value, Unknown):
        return value
    match value.origin:
        case ("param", FunctionInfo() as info, str(name)) if _is_input(frame, info, name, first=not _is_wide(other)):
            tensor = as_tensor(value)
            assert tensor is not None
            return tensor
    return value


def _is_wide(value: Value) -> bool:
    return isinstance(value, (Tensor, Unknown))


def _takes_tensors(frame: Frame, owner: ClassInfo, method: str) -> bool:
    """Whether a method is one that computes with tensors by the convention of its class."""
    if method == "forward" and is_module_class(frame, owner):
        return True
    return method in ("forward", "backward") and is_autograd_function_class(frame, owner)


def _is_input(frame: Frame, info: FunctionInfo, name: str, *, first: bool) -> bool:
    if info.owner is None or not _takes_tensors(frame, info.owner, info.name.rpartition(".")[2]):
        return False
    inputs = [one for one in info.parameters[1:] if one.kind == "positional" and one.default is None]
    found = next((one for one in (inputs[:1] if first else inputs) if one.name == name), None)
    if found is None or NUMBERS & set(annotation_names(found.annotation)):
        return False
    return name not in info.evidence.numbers
