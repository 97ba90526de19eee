"""Comparisons of devices that only decide where a checkpoint is loaded to, before a module copies its state."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.placement import Place
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend, dotted_name, names_in_target


def decides_only_where_to_load(place: Place, operator: str) -> bool:
    """Return whether both branches of a comparison load a checkpoint alike, for a module's `load_state_dict`.

    That method copies what it is given to where the module is. Where the comparison asks for the host, a checkpoint of
    an accelerator can be loaded without one only if the branch that is always taken says so.
    """
    tree = place.unit.tree if isinstance(place.unit, Statement) else None
    path = path_to(tree, place.node) if tree is not None and isinstance(place.node, cst.Comparison) else ()
    if len(path) < 2:
        return False
    test, branch = path[-1], path[-2]
    match branch:
        case cst.If(body=taken, orelse=cst.Else(body=other)) | cst.IfExp(body=taken, orelse=other):
            always = other if operator in ("==", "is") else taken
        case _:
            return False
    if branch.test is not test or (_asks_for_host(test) and not _loads_to_host(always)):
        return False
    if isinstance(branch, cst.IfExp) and _is_target_of_load(path):
        return _is_copied(path, _bound_names(path))
    if not _is_load(taken) or not _is_load(other) or _texts(taken) != _texts(other):
        return False
    bound = {name for block in (taken, other) for name in _names_assigned(block)} | _bound_names(path)
    return all(_gives_to_module(one) for one in (taken, other)) or _is_copied(path, bound)


def _asks_for_host(test: cst.CSTNode) -> bool:
    """Return whether a comparison is one with the host: `device == "cpu"`."""
    texts = (one.raw_value for one in descend(test) if isinstance(one, cst.SimpleString))
    return any(text.partition(":")[0] == "cpu" for text in texts)


def _loads_to_host(block: cst.CSTNode) -> bool:
    """Return whether a branch names the host, as in `torch.load(path, map_location="cpu")`."""
    return any(isinstance(one, cst.SimpleString) and one.raw_value == "cpu" for one in (block, *descend(block)))


def _is_load(block: cst.CSTNode) -> bool:
    """Return whether a branch loads a file with torch."""
    return any(_is_torch_load(one) for one in (block, *descend(block)))


def _is_torch_load(node: cst.CSTNode) -> bool:
    """Return whether a node is a call of `torch.load`."""
    return isinstance(node, cst.Call) and dotted_name(node.func) in ("torch.load", "th.load")


def _is_target_of_load(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether the conditional expression of a comparison is the `map_location` of a call of `torch.load`."""
    match path[-4:-2]:
        case [cst.Call() as call, cst.Arg(keyword=cst.Name(value="map_location"))]:
            return _is_torch_load(call)
    return False


def _texts(block: cst.CSTNode) -> list[str]:
    """Return the texts of the statements of a branch without the places to which they load."""
    lines = block.body if isinstance(block, cst.IndentedBlock) else (block,)
    found = [one.visit(_WithoutTarget()) for one in lines]
    return ["".join(cst.Module([]).code_for_node(one).split()) for one in found if isinstance(one, cst.CSTNode)]


class _WithoutTarget(cst.CSTTransformer):
    """Takes `map_location` out of the calls of `torch.load`."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """Return a call of `torch.load` with its file alone, and any other call as it is."""
        if not _is_torch_load(original_node):
            return updated_node
        kept = [one for one in updated_node.args if one.keyword is None or one.keyword.value != "map_location"]
        return updated_node.with_changes(args=[one.with_changes(comma=cst.MaybeSentinel.DEFAULT) for one in kept])


def _names_assigned(block: cst.CSTNode) -> set[str]:
    """Return the names that the assignments of a branch bind."""
    return {name for one in descend(block) if isinstance(one, cst.AssignTarget) for name in names_in_target(one.target)}


def _bound_names(path: Sequence[cst.CSTNode]) -> set[str]:
    """Return the names to which the statement around a conditional expression binds its value."""
    assignment = next((one for one in reversed(path) if isinstance(one, (cst.Assign, cst.BaseCompoundStatement))), None)
    return _names_assigned(assignment) if isinstance(assignment, cst.Assign) else set()


def _gives_to_module(node: cst.CSTNode) -> bool:
    """Return whether code gives what it loads to a module at once: `model.load_state_dict(torch.load(path))`."""
    return any(_is_torch_load(one) for call in _state_loads(node) for one in descend(call))


def _is_copied(path: Sequence[cst.CSTNode], names: set[str]) -> bool:
    """Return whether the function around gives some names to `load_state_dict`, and neither returns nor keeps them.

    Without names, the statement around must give what it loads to a module.
    """
    around = next((one for one in reversed(path) if isinstance(one, cst.FunctionDef)), path[0])
    if not names:
        line = next((one for one in reversed(path) if isinstance(one, cst.SimpleStatementLine)), None)
        return line is not None and _gives_to_module(line)
    leaves = (one for one in descend(around) if _lets_out(one))
    return any(_mentions(call, names) for call in _state_loads(around)) and not any(
        _mentions(one, names) for one in leaves
    )


def _lets_out(node: cst.CSTNode) -> bool:
    """Return whether a statement returns a value or keeps it in an attribute."""
    match node:
        case cst.Return() | cst.Yield() | cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute()), *_]):
            return True
    return False


def _state_loads(node: cst.CSTNode) -> list[cst.Call]:
    """Return the calls of a method `load_state_dict` within some code."""
    return [
        one
        for one in (node, *descend(node))
        if isinstance(one, cst.Call)
        and isinstance(one.func, cst.Attribute)
        and one.func.attr.value == "load_state_dict"
    ]


def _mentions(node: cst.CSTNode, names: set[str]) -> bool:
    """Return whether code mentions one of some names."""
    return any(isinstance(one, cst.Name) and one.value in names for one in descend(node))
