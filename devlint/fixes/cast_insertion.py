"""Fixes that cast a tensor to another dtype.

The cast is where NumPy or Python data becomes a tensor, where an operation uses the tensor, or in a transfer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.dtype import Dtype
from devlint.domain.placement import Step
from devlint.explain.dtype_texts import is_decided_in_scope
from devlint.explain.place_texts import shortened
from devlint.explain.suggestions import CAST_CALLS, without_cast
from devlint.fixes.call_edits import add_argument, find_argument, method_name, receiver_of
from devlint.fixes.edits import append_call, insert_after, replace_node, text_with_call
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.import_edits import full_name, write_library_name
from devlint.fixes.name_queries import parameter_names
from devlint.fixes.operand_placement import insert_transfer, operand_expression
from devlint.fixes.tensor_device_text import is_repeatable
from devlint.interpreter.program.container_entries import is_one_of_entries
from devlint.interpreter.state.events import Operand
from devlint.syntax.source_code import source_code

ARRAY_CONVERSIONS: Final = frozenset({"numpy.array", "numpy.asarray", "numpy.ascontiguousarray"})
"""NumPy functions whose result has the dtype of their argument."""


def cast_at_conversion(region: NodeRegion, call: cst.CSTNode, dtype: str) -> Fix:
    """Return a fix that casts data to a dtype where a torch function makes a tensor of NumPy or Python data.

    `torch.tensor`, `torch.as_tensor` and `torch.asarray` get a `dtype=` argument. After a call of any other torch
    function a cast is inserted. Raises NoFix for a call of anything else.
    """
    if not isinstance(call, cst.Call):
        raise NoFix
    maker = full_name(region, call.func)
    if maker in ("torch.tensor", "torch.as_tensor", "torch.asarray") and find_argument(call, "dtype", 1) is None:
        name, imported = write_library_name(region, call, f"torch.{dtype}")
        edits = (*imported, add_argument(region, call, "dtype", name))
    elif maker.startswith("torch."):
        suffix, imported = cast_suffix(region, call, dtype)
        edits = (*imported, insert_after(region, call, suffix))
    else:
        raise NoFix
    return Fix(f"Make the tensor {dtype} where the data comes into torch", Applicability.UNSAFE, edits)


def cast_where_data_enters(context: FixContext, conversion: Step, found: Dtype, dtype: str) -> Fix:
    """Return a fix that casts data to a dtype where torch converts it, in the step `conversion` of its dtype `found`.

    Raises NoFix where the same call may convert data of other dtypes too: that of other callers, or other entries of a
    container.
    """
    region, call = context.region_at(conversion.place), node_at(conversion.place)
    if comes_from_parameter(region, call) and not is_decided_in_scope(conversion.scope, found):
        raise NoFix
    if is_one_of_entries(conversion.place):
        raise NoFix
    return cast_at_conversion(region, call, dtype)


def cast_operand(context: FixContext, operand: Operand, dtype: str, other: Operand | None = None) -> Fix:
    """Return a fix that casts an operand to another dtype where the operation uses the operand.

    The text of the fix names the dtype as `other.dtype` if `other` is a plain expression; otherwise it names `dtype`.
    Raises NoFix for the parameters of a module and for the elements of a container.
    """
    region = context.region_at(operand.place)
    node = operand_expression(region, operand)
    if operand.of_module is not None or operand.inside:
        raise NoFix
    no_edits: tuple[Edit, ...] = ()
    if other is not None and other.of_module is None and not other.inside and is_repeatable(_operand_expression(other)):
        text = source_code(other.place.unit, _operand_expression(other))
        suffix, imported = f".to({text}.dtype)", no_edits
    else:
        suffix, imported = cast_suffix(region, node, dtype)
    source = without_cast(replace(operand.place, node=node), dtype).node
    if source is not node and isinstance(source, cst.BaseExpression):
        # The cast to the wrong dtype becomes one to the right dtype.
        written = text_with_call(region, source, suffix)
        return Fix(
            f"Write `{shortened(written)}`",
            Applicability.UNSAFE,
            (
                *imported,
                replace_node(region, node, written),
            ),
        )
    message, edits = insert_transfer(region, node, suffix)
    return Fix(message, Applicability.UNSAFE, (*imported, *edits))


def cast_with_transfer(region: NodeRegion, call: cst.CSTNode, dtype: str, trust: Applicability) -> Fix:
    """Return a fix that casts a tensor to a dtype as part of its transfer to a device.

    The method `.to()` gets a `dtype=` argument; before any other transfer method a cast is inserted.
    """
    if not isinstance(call, cst.Call):
        raise NoFix
    if method_name(call) == "to":
        if find_argument(call, "dtype", 1) is not None:
            raise NoFix
        name, imported = write_library_name(region, call, f"torch.{dtype}")
        edits = (*imported, add_argument(region, call, "dtype", name))
    else:
        suffix, imported = cast_suffix(region, call, dtype)
        edits = (*imported, *append_call(region, receiver_of(call), suffix))
    return Fix(f"Cast the tensor to {dtype} as it is moved", trust, edits)


def comes_from_parameter(region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether a tensor expression is a parameter of the enclosing function, or a conversion of such a parameter.

    The callers of the function then choose the tensor's dtype.
    """
    source = node
    while isinstance(source, cst.Call):
        name = full_name(region, source.func)
        if (name.startswith("torch.") or name in ARRAY_CONVERSIONS) and source.args:
            source = source.args[0].value
        elif isinstance(source.func, cst.Attribute):
            source = source.func.value
        else:
            break
    function = region.enclosing_function(node)
    return isinstance(source, cst.Name) and function is not None and source.value in parameter_names(function)


def cast_suffix(region: NodeRegion, node: cst.CSTNode, dtype: str) -> tuple[str, tuple[Edit, ...]]:
    """Return the text of a method call that casts a tensor to a dtype: `.float()`, or `.to(torch.bfloat16)`.

    The edits that import torch, where the text needs that, are returned with it.
    """
    if dtype in CAST_CALLS:
        return CAST_CALLS[dtype], ()
    name, imported = write_library_name(region, node, f"torch.{dtype}")
    return f".to({name})", imported


def _operand_expression(operand: Operand) -> cst.BaseExpression:
    """Return the expression of an operand of an operation; for an assigned entry `x[i]`, that is `x[i]`.

    Raises NoFix if the operand's syntax node is no expression.
    """
    node = operand.place.node
    if not isinstance(node, cst.BaseExpression):
        raise NoFix
    return node
