"""What a method does to attributes of `self`: reads and bindings in execution order, and stores into their items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.interpreter.program.node_kinds import ASSIGNMENTS, SCOPES
from devlint.syntax.tree_walk import children, descend

ANY_ATTRIBUTE: Final = "*"
"""The name of an attribute that a method binds under a name that is computed, as in `setattr(self, name, value)`."""

EVENT_TYPES: Final = SCOPES | ASSIGNMENTS | {cst.Attribute, cst.Call}
"""The node types that the walk handles by pattern match; of all others it visits the children."""


def self_attribute_events(node: cst.CSTNode) -> Iterator[tuple[str, bool]]:
    """Yield the name of each attribute of `self` that a method reads or binds, in execution order.

    Each name comes with True for a binding and False for a read. `setattr(self, name, value)` binds `ANY_ATTRIBUTE`
    unless the name is a literal.
    """
    pending = [(node, False)]
    while pending:
        one, bound = pending.pop()
        if bound and isinstance(one, (cst.Tuple, cst.List)):
            pending.extend((element.value, True) for element in reversed(one.elements))
        elif type(one) not in EVENT_TYPES:
            pending.extend((child, False) for child in reversed([*children(one)]))
        else:
            match one:
                case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
                    yield name, bound
                case cst.Attribute(value=owner):
                    pending.append((owner, False))
                case cst.Call():
                    pending.extend((child, False) for child in reversed([*children(one)]))
                    assigned = _name_set_by(one)
                    if assigned is not None:
                        yield assigned, True
                case cst.Assign(targets=targets, value=value):
                    pending.extend((target.target, True) for target in reversed(targets))
                    pending.append((value, False))
                case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                    pending += [(target, True), (value, False)]
                case cst.AugAssign(target=target, value=value):
                    pending += [(target, True), (value, False), (target, False)]
                case cst.NamedExpr(value=value):
                    pending.append((value, False))


def _name_set_by(call: cst.Call) -> str | None:
    """Return the name of the attribute of `self` that a call of `setattr` binds; None for any other call."""
    match call:
        case cst.Call(func=cst.Name(value="setattr"), args=[cst.Arg(value=cst.Name(value="self")), name, _]):
            literal = name.value.evaluated_value if isinstance(name.value, cst.SimpleString) else None
            return literal if isinstance(literal, str) else ANY_ATTRIBUTE
    return None


def self_attribute_stores(node: cst.CSTNode) -> Mapping[str, tuple[cst.BaseExpression | None, ...]]:
    """Return the expressions that a method's body assigns to each attribute of `self`, by the attribute's name.

    None stands for what an attribute gets in any other way than by an assignment to it alone.
    """
    plain: dict[str, list[cst.BaseExpression | None]] = {}
    for one in descend(node):
        match one:
            case cst.Assign(targets=targets, value=value):
                names = [name for target in targets if (name := _name_of_self(target.target)) is not None]
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                names = [name for name in [_name_of_self(target)] if name is not None]
            case _:
                continue
        for name in names:
            plain.setdefault(name, []).append(value)
    bound = Counter(name for name, binds in self_attribute_events(node) if binds)
    found = {name: (*plain.get(name, ()), *[None] * (bound[name] > len(plain.get(name, ())))) for name in bound}
    return {} if ANY_ATTRIBUTE in bound else found


def _name_of_self(node: cst.CSTNode) -> str | None:
    """Return the name of an attribute of `self` that a syntax node is; None for any other node."""
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
    return None


@dataclass(frozen=True, slots=True)
class ItemStores:
    """The attributes of `self` of which a method replaces items, by `self.memory[key] = value` or `.update(...)`.

    `after_read` are those that each run of the method reads before it replaces an item.
    """

    stored: frozenset[str]
    after_read: frozenset[str]

    @property
    def before_read(self) -> frozenset[str]:
        """Return the attributes whose items a run of the method may find as an earlier run has left them."""
        return self.stored - self.after_read


def item_stores(node: cst.CSTNode) -> ItemStores:
    """Return the attributes of `self` into whose items a method's body stores."""
    stored: set[str] = set()
    read: set[str] = set()
    pending = [(node, False, False)]
    after_exit = False
    while pending:
        one, optional, bound = pending.pop()
        match one:
            case cst.FunctionDef() | cst.ClassDef() | cst.Lambda():
                continue
            case cst.If(test=test, body=body, orelse=orelse) | cst.IfExp(test=test, body=body, orelse=orelse):
                pending += [(part, True, False) for part in (orelse, body) if part is not None]
                pending.append((test, optional, False))
            case cst.Return() | cst.Continue() | cst.Raise() | cst.Break():
                pending.extend((child, optional, False) for child in children(one))
                after_exit = after_exit or optional
            case cst.Assign(targets=targets, value=value):
                pending.extend((target.target, optional, True) for target in reversed(targets))
                pending.append((value, optional, False))
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                pending += [(target, optional, True), (value, optional, False)]
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                pending.extend((element.value, optional, bound) for element in reversed(elements))
            case cst.Subscript(value=owner) if bound:
                pending.extend((index, optional, False) for index in one.slice)
                while isinstance(owner, cst.Subscript):
                    pending.extend((index, optional, False) for index in owner.slice)
                    owner = owner.value
                match owner:
                    case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
                        stored.add(name)
            case cst.Call(
                func=cst.Attribute(
                    value=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)),
                    attr=cst.Name(value="update"),
                )
            ):
                pending.extend((child, optional, False) for child in reversed(one.args))
                stored.add(name)
            case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
                if not (bound or optional or after_exit or name in stored):
                    read.add(name)
            case _:
                pending.extend((child, optional, False) for child in reversed([*children(one)]))
    return ItemStores(frozenset(stored), frozenset(stored & read))
