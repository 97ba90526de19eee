"""Transfers of batches: the calls in a loop's body that move a part of what the loop runs over to a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from devlint.domain.torch_names import ACCELERATOR_METHODS
from devlint.interpreter.program.definitions import names_bound_by
from devlint.syntax.tree_walk import children, descend, dotted_name, names_in_target

Guards = tuple[tuple[cst.BaseExpression, bool], ...]
"""The tests of the `if` statements around a call, each with the answer that leads to the call."""

Holders = dict[str, tuple[str, str | None]]
"""The names that hold a part of a loop's element, each with the name in the loop's target and the attribute of it."""

_MOVES: Final = frozenset({"to", *ACCELERATOR_METHODS})
"""The methods that move to a device which the program names."""

_SPECIAL: Final = frozenset(
    {cst.BooleanOperation, cst.Call, cst.DictComp, cst.GeneratorExp, cst.IfExp, cst.Lambda, cst.ListComp, cst.SetComp}
)
"""The nodes that move something themselves, or do not always run all of what is in them."""


@dataclass(frozen=True, slots=True)
class PartTransfer:
    """A call that moves a part of a loop's element: `x.to(device)` or `batch["x"].cuda()`.

    `name` is the name in the loop's target that holds the part, and `guards` are the tests on which the call depends.
    `attribute` is the attribute of it that the part comes from, None if it is no attribute's. `listed` tells that the
    call moves the variable of a loop whose head lists the part: `for t in [x, y]`.
    """

    name: str
    attribute: str | None
    call: cst.Call
    guards: Guards
    listed: bool = False


def transfers_of_parts(loop: cst.For) -> tuple[PartTransfer, ...]:
    """Return the calls in a loop's body that move parts of the loop's element, and whose result the body keeps."""
    return tuple(_in_block(loop.body, {one: (one, None) for one in names_in_target(loop.target)}, ()))


def _in_block(block: cst.BaseSuite, holders: Holders, guards: Guards) -> Iterator[PartTransfer]:
    """Yield the transfers of parts in a block of code.

    `holders` are the names that hold a part, and what it is a part of; it is kept up to date.
    """
    for one in block.body:
        match one:
            case cst.SimpleStatementLine(body=body):
                for statement in body:
                    yield from _in_statement(statement, holders, guards)
            case cst.If():
                yield from _in_branches(one, holders, guards)
            case cst.With(body=body) | cst.Try(body=body):
                yield from _in_block(body, holders, guards)
            case cst.For(body=body) | cst.While(body=body):
                listed = [*_listed_parts(one, holders)]
                _forget(one, holders)
                yield from _in_block(body, holders, guards)
                for part in listed:
                    yield from (replace(each, listed=True) for each in _in_block(body, part, guards))
            case _:
                _forget(one, holders)


def _listed_parts(loop: cst.For | cst.While, holders: Holders) -> Iterator[Holders]:
    """Yield what the variable of a loop holds in each iteration whose element is a part that the loop's head lists."""
    match loop:
        case cst.For(target=cst.Name(value=name), iter=cst.List(elements=listed) | cst.Tuple(elements=listed)):
            sources = (_source(one.value, holders) for one in listed)
            yield from ({name: one} for one in sources if one is not None)


def _in_branches(node: cst.If, holders: Holders, guards: Guards) -> Iterator[PartTransfer]:
    """Yield the transfers of parts in the branches of an `if` statement; afterwards `holders` fit every branch."""
    yes, no = dict(holders), dict(holders)
    inside = guards if _is_test_for_tensor(node.test) else (*guards, (node.test, True))
    yield from _in_block(node.body, yes, inside)
    otherwise = (*guards, (node.test, False))
    match node.orelse:
        case cst.If() as following:
            yield from _in_branches(following, no, otherwise)
        case cst.Else(body=body):
            yield from _in_block(body, no, otherwise)
    for name in set(holders) | set(yes) | set(no):
        if yes.get(name) != no.get(name):
            holders.pop(name, None)


def _in_statement(statement: cst.BaseSmallStatement, holders: Holders, guards: Guards) -> Iterator[PartTransfer]:
    """Yield the transfers of parts in a simple statement, and note which names hold a part behind it."""
    discarded = statement.value if isinstance(statement, cst.Expr) else None
    for (name, attribute), call in _in_expression(statement, holders):
        if call is not discarded:
            yield PartTransfer(name, attribute, call, guards)
    match statement:
        case cst.Assign(targets=targets, value=value):
            for target in targets:
                _assign(target.target, value, dict(holders), holders)
        case _:
            _forget(statement, holders)


def _assign(target: cst.BaseExpression, value: cst.BaseExpression, before: Holders, holders: Holders) -> None:
    """Note which names hold a part of the loop's element behind an assignment; `before` are those that held one."""
    match target, value:
        case cst.Tuple(elements=names), cst.Tuple(elements=values) if len(names) == len(values):
            for one, other in zip(names, values, strict=True):
                _assign(one.value, other.value, before, holders)
            return
    source = _source(value, before) if not _is_moved(value) else None
    for name in names_in_target(target):
        if source is None:
            holders.pop(name, None)
        else:
            holders[name] = source


def _forget(node: cst.CSTNode, holders: Holders) -> None:
    """Remove the names that a statement binds from those that hold a part."""
    for one in (node, *descend(node, into_functions=False)):
        for name in names_bound_by(one):
            holders.pop(name, None)


def _in_expression(node: cst.CSTNode, holders: Holders) -> Iterator[tuple[tuple[str, str | None], cst.Call]]:
    """Yield the transfers of parts below a node that run whenever it does, each with what the part is a part of.

    A comprehension over a part moves the parts of it, and only tensors are moved behind a test for them.
    """
    for one in children(node):
        if type(one) not in _SPECIAL:
            # Comparing types is several times as fast as `match` on libcst classes.
            yield from _in_expression(one, holders)
            continue
        match one:
            case cst.BaseComp(for_in=clause):
                source = _source(clause.iter, holders)
                if source is not None:
                    yield from _in_expression(one, {**holders, **dict.fromkeys(names_in_target(clause.target), source)})
            case cst.IfExp(test=test, body=body):
                if _is_test_for_tensor(test):
                    yield from _in_expression(cst.Expr(body), holders)
            case cst.BooleanOperation() | cst.Lambda():
                pass
            case _:
                match one:
                    case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=method))) if method in _MOVES:
                        source = _source(receiver, holders)
                        if source is not None:
                            yield source, one
                yield from _in_expression(one, holders)


def _is_test_for_tensor(node: cst.BaseExpression) -> bool:
    """Return whether a test asks what its argument is, as `isinstance(x, torch.Tensor)` does."""
    return isinstance(node, cst.Call) and dotted_name(node.func) in ("isinstance", "hasattr", "torch.is_tensor")


def _source(node: cst.BaseExpression, holders: Holders) -> tuple[str, str | None] | None:
    """Return the name in the loop's target, and the attribute of it, of which an expression is a part; None for others.

    A method of the element, as in `x.float()`, is no attribute that holds a part.
    """
    found = holders.get(_root(node) or "")
    if found is None or found[1] is not None:
        return found
    called = False
    attribute: str | None = None
    while not isinstance(node, cst.Name):
        match node:
            case cst.Attribute(value=inner, attr=cst.Name(value=name)):
                attribute, called, node = (None if called else name), False, inner
            case cst.Call(func=cst.Attribute() as inner):
                called, node = True, inner
            case cst.Subscript(value=inner):
                attribute, called, node = None, False, inner
            case _:
                break
    return found[0], attribute


def _root(node: cst.BaseExpression) -> str | None:
    """Return the name at the left end of subscripts, attributes and method calls: `batch` of `batch["x"].float()`."""
    while not isinstance(node, cst.Name):
        match node:
            case cst.Subscript(value=inner) | cst.Attribute(value=inner):
                node = inner
            case cst.Call(func=cst.Attribute(value=inner)):
                node = inner
            case _:
                return None
    return node.value


def _is_moved(node: cst.BaseExpression) -> bool:
    """Return whether a chain of methods, as in `x.float().to(device)`, moves what is at its left end."""
    return any(
        isinstance(one, cst.Call) and isinstance(one.func, cst.Attribute) and one.func.attr.value in _MOVES
        for one in (node, *descend(node))
    )
