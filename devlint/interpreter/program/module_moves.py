"""What a method moves or casts in place of the modules that `self` holds, as `self.model.cuda()` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import libcst as cst

from devlint.domain.torch_names import DEVICE_METHODS, FLOAT_CASTS, SELF_RETURNING_MODULE_METHODS
from devlint.syntax.tree_walk import descend, dotted_name, names_in_target

AttributePath: TypeAlias = tuple[str, ...]
"""The attributes that lead from `self` to a module: `("model", "encoder")` for `self.model.encoder`."""

SOME_ITEM: Final = "*"
"""The last part of a path to an item of a container."""

_MOVES: Final = DEVICE_METHODS | {"to"}
_CASTS: Final = FLOAT_CASTS | {"type"}
_PARTS: Final = frozenset({"children", "items", "modules", "values"})
"""The methods whose results are the parts of a module or of a container."""
_READ: Final = frozenset({cst.Assign, cst.Call, cst.CompFor, cst.For})
"""The nodes that bind names, or call something."""
_FILLS: Final = "vector_to_parameters"
"""The function of torch that replaces the data of the parameters that it is given."""


@dataclass(frozen=True, slots=True)
class ModuleMove:
    """A transfer or cast, in place, of the module to which a path of attributes of `self` leads, if it is a module.

    `moves` is whether it may go to another device, `casts` whether it may get another dtype.
    """

    path: AttributePath
    moves: bool
    casts: bool


def module_moves(node: cst.CSTNode) -> frozenset[ModuleMove]:
    """Return the in-place transfers and casts in a method's body, also those through a local name of the module."""
    # Comparing types is several times as fast as `match` on libcst classes.
    parts = [one for one in descend(node) if type(one) in _READ]
    aliases: dict[str, set[AttributePath]] = {}
    for one in parts:
        for target, value in _bindings(one):
            for name in names_in_target(target):
                aliases.setdefault(name, set()).update(_paths(value, aliases))
    found: set[ModuleMove] = set()
    for one in parts:
        match one:
            case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=method))) if _transfers(method):
                found.update(_move(path, one, method) for path in _paths(receiver, aliases))
            case cst.Call(func=cst.Name(value=function) | cst.Attribute(attr=cst.Name(value=function))) if (
                function == _FILLS
            ):
                # The parameters are then where the vector is, and have its dtype.
                paths = [path for argument in one.args for path in _owners_of_parameters(argument.value, aliases)]
                found.update(ModuleMove(path, moves=True, casts=True) for path in paths)
            case cst.Assign(
                targets=targets, value=cst.Call(func=cst.Attribute(attr=cst.Name(value=method))) as call
            ) if _transfers(method):
                # Whatever has been moved is in the attribute afterwards.
                paths = [path for target in targets for path in _paths(target.target, {})]
                found.update(_move(path, call, method) for path in paths)
    return frozenset(found)


def _owners_of_parameters(node: cst.BaseExpression, aliases: dict[str, set[AttributePath]]) -> set[AttributePath]:
    """Return the paths from `self` to the modules of which an expression gives the parameters."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="parameters"))):
            return _paths(owner, aliases)
    return set()


def _transfers(method: str) -> bool:
    """Return whether a method of modules moves or casts them."""
    return method in _MOVES or method in _CASTS


def _move(path: AttributePath, call: cst.Call, method: str) -> ModuleMove:
    """Return the record of one call of a method that moves or casts."""
    casts = method in _CASTS or (method == "to" and not all(_is_no_dtype(one) for one in call.args))
    return ModuleMove(path, method in _MOVES, casts)


def _is_no_dtype(argument: cst.Arg) -> bool:
    """Return whether an argument of `.to()` is written so that it can only be a device or a flag."""
    value = argument.value.func if isinstance(argument.value, cst.Call) else argument.value
    if isinstance(value, (cst.SimpleString, cst.FormattedString)) or (
        argument.keyword is not None and argument.keyword.value != "dtype"
    ):
        return True
    return "device" in (dotted_name(value) or "").rpartition(".")[2]


def _bindings(node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Yield the targets that a node binds, each with the expression whose value, or whose items, it gets."""
    match node:
        case cst.Assign(targets=targets, value=value):
            for one in targets:
                match (one.target, value):
                    case (cst.Tuple(elements=names), cst.Tuple(elements=values)) if len(names) == len(values):
                        yield from ((name.value, given.value) for name, given in zip(names, values, strict=True))
                    case _:
                        yield one.target, value
        case cst.For(target=target, iter=value) | cst.CompFor(target=target, iter=value):
            yield target, value


def _paths(node: cst.BaseExpression, aliases: dict[str, set[AttributePath]]) -> set[AttributePath]:
    """Return the paths from `self` to what an expression may give, its parts included; `aliases` are those of names."""
    match node:
        case cst.Name(value=name):
            return aliases.get(name, set())
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return {(name,)}
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            return {(*path, name) for path in _paths(owner, aliases)}
        case cst.Subscript(value=owner):
            return {(*path, SOME_ITEM) for path in _paths(owner, aliases)}
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return {path for element in elements for path in _paths(element.value, aliases)}
        case cst.Call(func=cst.Name(value="enumerate" | "zip"), args=arguments):
            return {path for one in arguments for path in _paths(one.value, aliases)}
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=method))):
            if method in _PARTS:
                return {(*path, SOME_ITEM) for path in _paths(owner, aliases)}
            if method in SELF_RETURNING_MODULE_METHODS or _transfers(method):
                return _paths(owner, aliases)
    return set()
