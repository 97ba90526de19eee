"""Arguments of `forward` methods without an annotation: used in arithmetic, they are taken to be tensors."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import Tensor, Unknown, Value, as_tensor
from devlint.interpreter.objects.class_hierarchy import is_autograd_function_class, is_module_class
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.program.usage_evidence import annotation_names
from devlint.interpreter.state.frame import Frame

NUMBER_ANNOTATIONS: Final = frozenset({"int", "float", "bool", "str", "complex", "Number", "numbers.Number"})
"""Annotations of parameters that arithmetic may use although they are not tensors."""


def as_forward_operand(frame: Frame, value: Value, other: Value) -> Value:
    """Return an operand of arithmetic as a tensor if it is an argument of a `forward` method, else unchanged.

    `other` is the other operand. Beside a number, only the first argument of `forward` becomes a tensor, because later
    arguments may well be numbers too.
    """
    if not isinstance(value, Unknown):
        return value
    match value.origin:
        case ("param", FunctionInfo() as info, str(name)) if _is_tensor_argument(
            frame, info, name, first=not _may_be_tensor(other)
        ):
            tensor = as_tensor(value)
            assert tensor is not None
            return tensor
    return value


def _may_be_tensor(value: Value) -> bool:
    """Return whether a value is a tensor or unknown."""
    return isinstance(value, (Tensor, Unknown))


def _takes_tensors_by_convention(frame: Frame, owner: ClassInfo, method: str) -> bool:
    """Return whether a method takes tensors by the convention of its class.

    Such methods are `forward` of a module, and `forward` and `backward` of an autograd function.
    """
    if method == "forward" and is_module_class(frame, owner):
        return True
    return method in ("forward", "backward") and is_autograd_function_class(frame, owner)


def _is_tensor_argument(frame: Frame, info: FunctionInfo, name: str, *, first: bool) -> bool:
    """Return whether a parameter of a `forward` or `backward` method is a tensor by convention.

    A parameter does not count if it has a default, is annotated as a number or is used as a number. With `first`, only
    the first parameter without a default counts.
    """
    if info.owner is None or not _takes_tensors_by_convention(frame, info.owner, info.name.rpartition(".")[2]):
        return False
    inputs = [one for one in info.parameters[1:] if one.kind == "positional" and one.default is None]
    found = next((one for one in (inputs[:1] if first else inputs) if one.name == name), None)
    if found is None or NUMBER_ANNOTATIONS & set(annotation_names(found.annotation)):
        return False
    return name not in info.evidence.numbers
