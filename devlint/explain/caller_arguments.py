"""The argument of a call by which a caller chooses the dtype of an operand in the function that it calls."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.placement import Place, Scope
from devlint.interpreter.state.events import Operand


def is_callers(operand: Operand, scope: Scope | None) -> bool:
    """Return whether an operand is a parameter of the function that runs in a scope, of a dtype that a caller chose.

    A cast of such an operand within the function would hold for every other caller too.
    """
    dtype = operand.tensor.dtype
    chosen = dtype.made or dtype.provenance
    return (
        scope is not None
        and chosen is not None
        and chosen.scope is not scope
        and _parameter_index(operand.place.node, scope) is not None
    )


def at_caller(operand: Operand, scope: Scope | None) -> Operand | None:
    """Return the operand as the argument of the call whose function chose its dtype; None where no argument is it."""
    while scope is not None and is_callers(operand, scope):
        place = _argument_at_call(operand.place, scope)
        if place is None:
            return None
        operand, scope = replace(operand, place=place), scope.caller
    return operand


def _argument_at_call(parameter: Place, scope: Scope) -> Place | None:
    """Return the place of the argument that a call passes for a parameter; None if the call does not write it out."""
    call, index = scope.called_at, _parameter_index(parameter.node, scope)
    if call is None or index is None or not isinstance(call.node, cst.Call):
        return None
    arguments = call.node.args
    name = parameter.node.value if isinstance(parameter.node, cst.Name) else ""
    for position, one in enumerate(arguments):
        if one.star:
            return None
        named = one.keyword is not None and one.keyword.value == name
        if named or (one.keyword is None and position == index):
            return replace(call, node=one.value)
    return None


def _parameter_index(node: object, scope: Scope) -> int | None:
    """Return the position, in a call, of the parameter of a scope's function that a syntax node names; None for others.

    The receiver of a method does not count.
    """
    function = scope.body
    if not isinstance(node, cst.Name) or not isinstance(function, cst.FunctionDef):
        return None
    names = [one.name.value for one in (*function.params.posonly_params, *function.params.params)]
    bound = len(names) > 0 and names[0] in ("self", "cls")
    return names.index(node.value) - bound if node.value in names[bound:] else None
