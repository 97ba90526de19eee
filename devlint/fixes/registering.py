"""Makes a module own what it keeps: buffers for tensors, and the containers that torch moves for modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import behind, replace, wrap
from devlint.fixes.imports import spell
from devlint.fixes.sheet import NodeRegion, NoFix
from devlint.interpreter.program.definitions import names_bound_by
from devlint.syntax.tree_walk import children, descend, dotted_name

LIST_METHODS: Final = frozenset("append extend insert".split())
DICT_METHODS: Final = frozenset("items keys values update clear pop".split())
"""What lists and dicts can do that their counterparts for modules can do as well."""
LITERALS: Final = (
    cst.BaseNumber, cst.BaseString, cst.List, cst.Tuple, cst.Dict, cst.Lambda, cst.ListComp, cst.DictComp,
)  # fmt: skip
"""Expressions that are neither a tensor nor a module."""


def register_buffer(part: NodeRegion, target: cst.CSTNode) -> Fix:
    """`self.pe = tensor` becomes `self.register_buffer("pe", tensor, persistent=False)`.

    An attribute that `__init__` first sets to None is registered there, and keeps its other assignments; one that two
    branches assign is registered in both.
    """
    name, own = _attribute_of_self(target), _statement_of(part, target)
    class_ = _class_around(part, target)
    initializer = next((one for one in _methods(class_) if one.name.value == "__init__"), None)
    set_up = _set_up(initializer) if initializer is not None else None
    if set_up is None or name in _bound_in_body(class_):
        raise NoFix
    inside = [one for one in part.told(_assignments, class_).get(name, ()) if part.function(one) is initializer]
    first = _first_to_bind(part, own, inside)
    branches = [one for one in inside if first is own and _are_branches(part, one, own)]
    for one in (first, *branches):
        if part.span(one) < part.span(set_up) or _is_trained(one) or not _may_be_tensor(one.value):
            raise NoFix
    # Once registered, the name may be assigned as before.
    edits = tuple(edit for one in (first, *branches) for edit in _registered(part, one, name))
    return Fix(f"Register `{name}` as a buffer that the checkpoint leaves out", Applicability.UNSAFE, edits)


def _statement_of(part: NodeRegion, target: cst.CSTNode) -> cst.Assign | cst.AnnAssign:
    found = next((one for one in part.parents(target) if isinstance(one, (cst.Assign, cst.AnnAssign))), None)
    if found is None or found.value is None:
        raise NoFix
    return found


def _first_to_bind(
    part: NodeRegion, own: cst.Assign | cst.AnnAssign, inside: list[cst.Assign | cst.AnnAssign]
) -> cst.Assign | cst.AnnAssign:
    """The assignment in `__init__` that must register: torch refuses a name that is an attribute already.

    It is the tensor's own, or one of None before it.
    """
    before = [one for one in inside if one is not own and not _are_branches(part, one, own)]
    if any(one is own for one in inside):
        before = [one for one in before if part.span(one) < part.span(own)]
    elif not before:
        raise NoFix
    if not all(one.value is not None and dotted_name(one.value) == "None" for one in before[:1]):
        raise NoFix
    return before[0] if before else own


def _are_branches(part: NodeRegion, one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two statements stand in the two branches of one condition."""
    paths = [[node, *part.parents(node)] for node in (one, other)]
    for index, above in enumerate(paths[0]):
        if above in paths[1]:
            below = paths[1][paths[1].index(above) - 1]
            return isinstance(above, cst.If) and below is not paths[0][index - 1]
    return False


def _bound_in_body(class_: cst.ClassDef) -> set[str]:
    """The names that a class's own body gives a value."""
    nodes = descend(class_.body, into_functions=False)
    declared = (cst.AnnAssign,)
    return {
        name for one in nodes if not isinstance(one, declared) or one.value is not None for name in names_bound_by(one)
    }


def wrap_container(part: NodeRegion, target: cst.CSTNode, kind: str) -> Fix:
    """`self.blocks = [...]` becomes an `nn.ModuleList`, a dict an `nn.ModuleDict`; `kind` is Module or Parameter."""
    statement, name = _statement_of(part, target), _attribute_of_self(target)
    value = statement.value
    assert value is not None
    shape = _shape_of(value)
    if not _is_used_as(_class_around(part, statement), name, shape):
        raise NoFix
    container, imported = spell(part, target, f"torch.nn.{kind}{shape}")
    if isinstance(value, (cst.List, cst.Tuple, cst.Dict)) and not value.elements:
        edits: tuple[Edit, ...] = (replace(part, value, f"{container}()"),)
    elif isinstance(value, cst.GeneratorExp):
        edits = (replace(part, value, f"{container}({part.sheet.text[slice(*part.span(value))]})"),)
    else:
        edits = wrap(part, value, f"{container}(", ")")
    return Fix(f"Keep them in an `{container}`", Applicability.UNSAFE, (*imported, *edits))


def _attribute_of_self(target: cst.CSTNode) -> str:
    match target:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
    raise NoFix


def _class_around(part: NodeRegion, node: cst.CSTNode) -> cst.ClassDef:
    found = next((one for one in part.parents(node) if isinstance(one, cst.ClassDef)), None)
    if found is None:
        raise NoFix
    return found


def _methods(class_: cst.ClassDef) -> Iterator[cst.FunctionDef]:
    yield from (one for one in class_.body.body if isinstance(one, cst.FunctionDef))


def _is_trained(statement: cst.Assign | cst.AnnAssign) -> bool:
    """Whether a tensor is made to be trained: it should be a parameter then."""
    return any(
        isinstance(one, cst.Arg) and one.keyword is not None and one.keyword.value == "requires_grad"
        for one in descend(statement)
    )


def _assignments(class_: cst.ClassDef) -> Mapping[str, Sequence[cst.Assign | cst.AnnAssign]]:
    """The statements that assign an attribute of `self`, and it alone, by its name."""
    found: dict[str, list[cst.Assign | cst.AnnAssign]] = {}
    for node in descend(class_):
        if isinstance(node, cst.Assign) and len(node.targets) == 1:
            target: cst.BaseExpression = node.targets[0].target
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            target = node.target
        else:
            continue
        owner, _, name = (dotted_name(target) or "").partition(".")
        if owner == "self" and name:
            found.setdefault(name, []).append(node)
    return found


def _registered(part: NodeRegion, statement: cst.Assign | cst.AnnAssign, name: str) -> tuple[Edit, ...]:
    assert statement.value is not None
    start, _ = part.span(statement)
    opening = part.sheet.edit(start, part.around(statement.value)[0], f'self.register_buffer("{name}", ')
    return opening, behind(part, statement.value, ", persistent=False)")


def _set_up(initializer: cst.FunctionDef) -> cst.Call | None:
    """The call by which a module's `__init__` has its base class do its part."""
    for node in descend(initializer.body):
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "__init__":
            return node
    return None


def _shape_of(value: cst.BaseExpression) -> str:
    """Whether a container is a list (or will do as one) or a dict with keys that a module's children may have."""
    match value:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            if all(_may_be_module(one.value) for one in elements):
                return "List"
        case cst.ListComp(elt=element) | cst.GeneratorExp(elt=element):
            if _may_be_module(element):
                return "List"
        case cst.Call(func=cst.Name(value="list" | "tuple")):
            return "List"
        case cst.Dict(elements=elements):
            if all(isinstance(one, cst.DictElement) and _may_be_key(one.key) for one in elements):
                return "Dict"
        case cst.DictComp(key=key, for_in=clause):
            counts = isinstance(clause.iter, cst.Call) and dotted_name(clause.iter.func) in ("range", "enumerate")
            if _may_be_key(key) and not (counts and isinstance(key, cst.Name)):
                return "Dict"
        case cst.Call(func=cst.Name(value="dict"), args=arguments):
            if all(one.keyword is not None for one in arguments):
                return "Dict"
    raise NoFix


def _may_be_tensor(node: cst.BaseExpression | None) -> bool:
    """Whether a value is a tensor, or None, as far as it shows."""
    return node is not None and not isinstance(node, LITERALS) and dotted_name(node) not in ("True", "False")


def _may_be_module(node: cst.BaseExpression) -> bool:
    return not isinstance(node, LITERALS) and dotted_name(node) not in ("None", "True", "False")


def _may_be_key(node: cst.BaseExpression) -> bool:
    """Children of a module have names: strings without a dot."""
    if isinstance(node, cst.SimpleString):
        return "." not in str(node.evaluated_value)
    return isinstance(node, (cst.Name, cst.FormattedString, cst.Attribute)) or _is_text(node)


def _is_text(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "str"


def _is_used_as(class_: cst.ClassDef, name: str, shape: str) -> bool:
    """Whether the class asks nothing of an attribute that its counterpart for modules cannot do."""
    methods = LIST_METHODS if shape == "List" else DICT_METHODS
    for node in (one for holder in descend(class_) for one in _uses(holder, name)):
        match node:
            case cst.Attribute(attr=cst.Name(value=method)) if method not in methods:
                return False
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]) if shape == "Dict":
                if not _may_be_key(key):
                    return False
            case cst.BinaryOperation():
                return False
    return True


def _uses(holder: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
    """The node itself, if an attribute of `self` is directly a part of it."""
    if any(isinstance(one, cst.Attribute) and dotted_name(one) == f"self.{name}" for one in children(holder)):
        yield holder
