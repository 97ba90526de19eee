"""Fixes that register what a module's attributes hold, so that `.to()` moves it.

A tensor becomes a buffer. A list or dict of modules or parameters becomes a container of `torch.nn`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import insert_after, replace_node, wrap_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import write_library_name
from devlint.interpreter.program.definitions import names_bound_by
from devlint.syntax.tree_walk import children, descend, dotted_name

LIST_METHODS: Final = frozenset("append extend insert".split())
"""Methods of a list that `nn.ModuleList` and `nn.ParameterList` have as well."""
DICT_METHODS: Final = frozenset("items keys values update clear pop".split())
"""Methods of a dict that `nn.ModuleDict` and `nn.ParameterDict` have as well."""
NEVER_TENSORS: Final = (
    cst.BaseNumber, cst.BaseString, cst.List, cst.Tuple, cst.Dict, cst.Lambda, cst.ListComp, cst.DictComp,
)  # fmt: skip
"""Expressions whose value is neither a tensor nor a module."""


def register_buffer(region: NodeRegion, target: cst.CSTNode) -> Fix:
    """Return a fix that registers a tensor attribute of a module as a buffer.

    `self.pe = tensor` becomes `self.register_buffer("pe", tensor, persistent=False)`. If `__init__` first sets the
    attribute to None, that assignment becomes the registration, and the other assignments stay. If two branches assign
    the attribute, both register it.
    """
    name, own = _attribute_of_self(target), _statement_of(region, target)
    class_ = _class_around(region, target)
    initializer = next((one for one in _methods(class_) if one.name.value == "__init__"), None)
    base_call = _base_initializer_call(initializer) if initializer is not None else None
    if base_call is None or name in _bound_in_body(class_):
        raise NoFix
    inside = [
        one
        for one in region.cached(_assignments, class_).get(name, ())
        if region.enclosing_function(one) is initializer
    ]
    first = _first_to_bind(region, own, inside)
    branches = [one for one in inside if first is own and _are_branches(region, one, own)]
    for one in (first, *branches):
        if region.span(one) < region.span(base_call) or _passes_requires_grad(one) or not _may_be_tensor(one.value):
            raise NoFix
    # After its registration, a buffer can be assigned like any attribute.
    edits = tuple(edit for one in (first, *branches) for edit in _registration_edits(region, one, name))
    return Fix(
        f"Register `{name}` as a buffer outside of checkpoints (`persistent=False`)", Applicability.UNSAFE, edits
    )


def _statement_of(region: NodeRegion, target: cst.CSTNode) -> cst.Assign | cst.AnnAssign:
    """Return the assignment statement whose target is `target`. Raises NoFix for an annotation without a value."""
    found = next((one for one in region.ancestors(target) if isinstance(one, (cst.Assign, cst.AnnAssign))), None)
    if found is None or found.value is None:
        raise NoFix
    return found


def _first_to_bind(
    region: NodeRegion, own: cst.Assign | cst.AnnAssign, inside: list[cst.Assign | cst.AnnAssign]
) -> cst.Assign | cst.AnnAssign:
    """Return the assignment in `__init__` that must become the call of `register_buffer` for a tensor attribute.

    It is `own`, the assignment of the tensor, or an earlier assignment of None to the same attribute: torch refuses to
    register a name that is already an attribute.
    """
    before = [one for one in inside if one is not own and not _are_branches(region, one, own)]
    if any(one is own for one in inside):
        before = [one for one in before if region.span(one) < region.span(own)]
    elif not before:
        raise NoFix
    if not all(one.value is not None and dotted_name(one.value) == "None" for one in before[:1]):
        raise NoFix
    return before[0] if before else own


def _are_branches(region: NodeRegion, one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Return whether two statements are in different branches of the same `if` statement."""
    paths = [[node, *region.ancestors(node)] for node in (one, other)]
    for index, above in enumerate(paths[0]):
        if above in paths[1]:
            below = paths[1][paths[1].index(above) - 1]
            return isinstance(above, cst.If) and below is not paths[0][index - 1]
    return False


def _bound_in_body(class_: cst.ClassDef) -> set[str]:
    """Return the names to which the body of a class gives a value. A bare annotation `x: int` does not count."""
    nodes = descend(class_.body, into_functions=False)
    declared = (cst.AnnAssign,)
    return {
        name for one in nodes if not isinstance(one, declared) or one.value is not None for name in names_bound_by(one)
    }


def wrap_container(region: NodeRegion, target: cst.CSTNode, kind: str) -> Fix:
    """Return a fix that makes a container of `torch.nn`, which registers its content, of a list or dict.

    The list or dict holds modules or parameters. `kind` is `Module` or `Parameter`. `self.blocks = [...]` becomes an
    `nn.ModuleList`, and a dict becomes an `nn.ModuleDict`. Raises NoFix when the class uses the container in a way that
    torch's containers do not support.
    """
    statement, name = _statement_of(region, target), _attribute_of_self(target)
    value = statement.value
    assert value is not None
    shape = _shape_of(value)
    if not _is_used_as(_class_around(region, statement), name, shape):
        raise NoFix
    container, imported = write_library_name(region, target, f"torch.nn.{kind}{shape}")
    if isinstance(value, (cst.List, cst.Tuple, cst.Dict)) and not value.elements:
        edits: tuple[Edit, ...] = (replace_node(region, value, f"{container}()"),)
    elif isinstance(value, cst.GeneratorExp):
        edits = (replace_node(region, value, f"{container}({region.context.text[slice(*region.span(value))]})"),)
    else:
        edits = wrap_node(region, value, f"{container}(", ")")
    return Fix(f"Keep the {kind.lower()}s in an `{container}`", Applicability.UNSAFE, (*imported, *edits))


def _attribute_of_self(target: cst.CSTNode) -> str:
    """Return `name` for an assignment target `self.name`. Raises NoFix for any other target."""
    match target:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
    raise NoFix


def _class_around(region: NodeRegion, node: cst.CSTNode) -> cst.ClassDef:
    """Return the innermost class definition around a syntax node. Raises NoFix for a node outside of classes."""
    found = next((one for one in region.ancestors(node) if isinstance(one, cst.ClassDef)), None)
    if found is None:
        raise NoFix
    return found


def _methods(class_: cst.ClassDef) -> Iterator[cst.FunctionDef]:
    """Yield the syntax nodes of the methods that the body of a class defines."""
    yield from (one for one in class_.body.body if isinstance(one, cst.FunctionDef))


def _passes_requires_grad(statement: cst.Assign | cst.AnnAssign) -> bool:
    """Return whether a statement contains the argument `requires_grad=`.

    Its tensor should then be a parameter and not a buffer.
    """
    return any(
        isinstance(one, cst.Arg) and one.keyword is not None and one.keyword.value == "requires_grad"
        for one in descend(statement)
    )


def _assignments(class_: cst.ClassDef) -> Mapping[str, Sequence[cst.Assign | cst.AnnAssign]]:
    """Return the statements of a class that assign only one attribute of `self`, by the name of the attribute."""
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


def _registration_edits(region: NodeRegion, statement: cst.Assign | cst.AnnAssign, name: str) -> tuple[Edit, ...]:
    """Return the edits that turn an assignment to an attribute of `self` into a call of `self.register_buffer`."""
    assert statement.value is not None
    start, _ = region.span(statement)
    opening = region.context.edit(
        start, region.span_with_parentheses(statement.value)[0], f'self.register_buffer("{name}", '
    )
    return opening, insert_after(region, statement.value, ", persistent=False)")


def _base_initializer_call(initializer: cst.FunctionDef) -> cst.Call | None:
    """Return the call of the base class's `__init__` in the body of an `__init__` method.

    Returns None if there is no such call.
    """
    for node in descend(initializer.body):
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "__init__":
            return node
    return None


def _shape_of(value: cst.BaseExpression) -> str:
    """Return `List` or `Dict`: whether `nn.ModuleList` or `nn.ModuleDict` can replace the given container expression.

    A tuple counts as a list. Raises NoFix for an element that is no module, and for a key that no child module can
    have.
    """
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
    """Return whether an expression may be a tensor or None, judged by its syntax alone."""
    return node is not None and not isinstance(node, NEVER_TENSORS) and dotted_name(node) not in ("True", "False")


def _may_be_module(node: cst.BaseExpression) -> bool:
    """Return whether an expression may be a module, judged by its syntax alone."""
    return not isinstance(node, NEVER_TENSORS) and dotted_name(node) not in ("None", "True", "False")


def _may_be_key(node: cst.BaseExpression) -> bool:
    """Return whether an expression may be a key of `nn.ModuleDict`, judged by its syntax: a string without a dot."""
    if isinstance(node, cst.SimpleString):
        return "." not in str(node.evaluated_value)
    return isinstance(node, (cst.Name, cst.FormattedString, cst.Attribute)) or _is_str_call(node)


def _is_str_call(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a call of the built-in `str`."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "str"


def _is_used_as(class_: cst.ClassDef, name: str, shape: str) -> bool:
    """Return whether a class uses an attribute, a list or dict, only in ways that a container of `torch.nn` supports.

    `shape` is `List` or `Dict`, for `nn.ModuleList` and `nn.ModuleDict` or their counterparts for parameters.
    """
    methods = LIST_METHODS if shape == "List" else DICT_METHODS
    for node in (one for holder in descend(class_) for one in _parents_of_attribute(holder, name)):
        match node:
            case cst.Attribute(attr=cst.Name(value=method)) if method not in methods:
                return False
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]) if shape == "Dict":
                if not _may_be_key(key):
                    return False
            case cst.BinaryOperation():
                return False
    return True


def _parents_of_attribute(holder: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
    """Yield `holder` if the expression `self.name` is one of its direct child nodes; otherwise yield nothing."""
    if any(isinstance(one, cst.Attribute) and dotted_name(one) == f"self.{name}" for one in children(holder)):
        yield holder
