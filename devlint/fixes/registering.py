"""Makes a module own what it keeps: buffers for tensors, and the containers that torch moves for modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import behind, replace, wrap
from devlint.fixes.imports import spell
from devlint.fixes.sheet import Part, Unfit
from devlint.syntax.walk import children, descend, dotted_name

LIST_METHODS: Final = frozenset("append extend insert".split())
DICT_METHODS: Final = frozenset("items keys values update clear pop".split())
"""What lists and dicts can do that their counterparts for modules can do as well."""


def register_buffer(part: Part, target: cst.CSTNode) -> Fix:
    """`self.pe = tensor` becomes `self.register_buffer("pe", tensor, persistent=False)`.

    An attribute that `__init__` first sets to None is registered there, and keeps its other assignments.
    """
    name = _attribute_of_self(target)
    class_ = _class_around(part, target)
    initializer = next((one for one in _methods(class_) if one.name.value == "__init__"), None)
    set_up = _set_up(initializer) if initializer is not None else None
    inside = (one for one in _assignments(class_, name) if part.function(one) is initializer)
    first = next(inside, None)
    if set_up is None or first is None or part.span(first) < part.span(set_up) or _is_trained(first):
        raise Unfit
    # Once registered, the name may be assigned as before.
    edits = _registered(part, first, name)
    return Fix(f"Register `{name}` as a buffer that the checkpoint leaves out", Applicability.UNSAFE, edits)


def wrap_container(part: Part, target: cst.CSTNode, kind: str) -> Fix:
    """`self.blocks = [...]` becomes an `nn.ModuleList`, a dict an `nn.ModuleDict`; `kind` is Module or Parameter."""
    statement = next((one for one in part.parents(target) if isinstance(one, (cst.Assign, cst.AnnAssign))), None)
    if statement is None or statement.value is None:
        raise Unfit
    value, name = statement.value, _attribute_of_self(target)
    shape = _shape_of(value)
    if not _is_used_as(_class_around(part, statement), name, shape):
        raise Unfit
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
    raise Unfit


def _class_around(part: Part, node: cst.CSTNode) -> cst.ClassDef:
    found = next((one for one in part.parents(node) if isinstance(one, cst.ClassDef)), None)
    if found is None:
        raise Unfit
    return found


def _methods(class_: cst.ClassDef) -> Iterator[cst.FunctionDef]:
    yield from (one for one in class_.body.body if isinstance(one, cst.FunctionDef))


def _is_trained(statement: cst.Assign | cst.AnnAssign) -> bool:
    """Whether a tensor is made to be trained: it should be a parameter then."""
    return any(
        isinstance(one, cst.Arg) and one.keyword is not None and one.keyword.value == "requires_grad"
        for one in descend(statement)
    )


def _assignments(class_: cst.ClassDef, name: str) -> Iterator[cst.Assign | cst.AnnAssign]:
    """The statements that assign an attribute of `self`, and it alone."""
    for node in descend(class_):
        if isinstance(node, cst.Assign) and len(node.targets) == 1:
            targets: list[cst.BaseExpression] = [node.targets[0].target]
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            targets = [node.target]
        else:
            continue
        if dotted_name(targets[0]) == f"self.{name}":
            yield node


def _registered(part: Part, statement: cst.Assign | cst.AnnAssign, name: str) -> tuple[Edit, ...]:
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
    raise Unfit


def _may_be_module(node: cst.BaseExpression) -> bool:
    literals = (cst.BaseNumber, cst.BaseString, cst.List, cst.Tuple, cst.Dict, cst.Lambda, cst.ListComp, cst.DictComp)
    return not isinstance(node, literals) and dotted_name(node) not in ("None", "True", "False")


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
