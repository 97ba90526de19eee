"""Tensors that get the dtype that is wanted: where they come into torch, where they are used, or as they are moved."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.calls import add_argument, find_argument, method_name, receiver_of
from devlint.fixes.devices import is_plain
from devlint.fixes.edits import behind, method
from devlint.fixes.imports import full_name, spell
from devlint.fixes.names import parameters_of
from devlint.fixes.placing import transfer, written_operand
from devlint.fixes.sheet import FixContext, NodeRegion, NoFix
from devlint.interpreter.state.events import Operand

METHODS: Final = {"float32": ".float()", "int64": ".long()", "float16": ".half()", "float64": ".double()"}
"""The casts that have a method of their own."""

ARRAYS: Final = frozenset({"numpy.array", "numpy.asarray", "numpy.ascontiguousarray"})
"""Functions that keep the dtype of what they are given."""


def cast_at_entrance(part: NodeRegion, call: cst.CSTNode, dtype: str) -> Fix:
    """What NumPy or Python brings into torch gets its dtype there."""
    if not isinstance(call, cst.Call):
        raise NoFix
    maker = full_name(part, call.func)
    if maker in ("torch.tensor", "torch.as_tensor", "torch.asarray") and find_argument(call, "dtype", 1) is None:
        name, imported = spell(part, call, f"torch.{dtype}")
        edits = (*imported, add_argument(part, call, "dtype", name))
    elif maker.startswith("torch."):
        suffix, imported = cast_suffix(part, call, dtype)
        edits = (*imported, behind(part, call, suffix))
    else:
        raise NoFix
    return Fix(f"Make it {dtype} where it comes into torch", Applicability.UNSAFE, edits)


def cast_operand(sheet: FixContext, operand: Operand, dtype: str, other: Operand | None = None) -> Fix:
    """An operand is cast where it is used: to the dtype of another, if that has a name, or to one by name."""
    part = sheet.part(operand.place)
    node = written_operand(part, operand)
    if operand.of_module is not None or operand.inside:
        raise NoFix
    if other is not None and other.of_module is None and not other.inside and is_plain(_base(other)):
        text = cst.Module([]).code_for_node(_base(other))
        message, edits = transfer(part, node, f".to({text}.dtype)")
        return Fix(message.replace("Move", "Cast"), Applicability.UNSAFE, edits)
    suffix, imported = cast_suffix(part, node, dtype)
    message, edits = transfer(part, node, suffix)
    return Fix(message.replace("Move", "Cast"), Applicability.UNSAFE, (*imported, *edits))


def cast_with_transfer(part: NodeRegion, call: cst.CSTNode, dtype: str, trust: Applicability) -> Fix:
    """A transfer casts as well, or comes after the cast."""
    if not isinstance(call, cst.Call):
        raise NoFix
    if method_name(call) == "to":
        if find_argument(call, "dtype", 1) is not None:
            raise NoFix
        name, imported = spell(part, call, f"torch.{dtype}")
        edits = (*imported, add_argument(part, call, "dtype", name))
    else:
        suffix, imported = cast_suffix(part, call, dtype)
        edits = (*imported, *method(part, receiver_of(call), suffix))
    return Fix(f"Cast it to {dtype} as it is moved", trust, edits)


def passes_argument_on(part: NodeRegion, node: cst.CSTNode) -> bool:
    """Whether a tensor is an argument of the function around it, or made of one as it is: callers choose its dtype."""
    source = node
    while isinstance(source, cst.Call):
        name = full_name(part, source.func)
        if (name.startswith("torch.") or name in ARRAYS) and source.args:
            source = source.args[0].value
        elif isinstance(source.func, cst.Attribute):
            source = source.func.value
        else:
            break
    function = part.function(node)
    return isinstance(source, cst.Name) and function is not None and source.value in parameters_of(function)


def cast_suffix(part: NodeRegion, node: cst.CSTNode, dtype: str) -> tuple[str, tuple[Edit, ...]]:
    """The method that casts to a dtype."""
    if dtype in METHODS:
        return METHODS[dtype], ()
    name, imported = spell(part, node, f"torch.{dtype}")
    return f".to({name})", imported


def _base(operand: Operand) -> cst.BaseExpression:
    """The tensor of an operand; of an entry that is assigned, the whole."""
    node = operand.place.node
    if not isinstance(node, cst.BaseExpression):
        raise NoFix
    return node
