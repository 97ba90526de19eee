"""What the code around a node asks before the node runs, as it is written: also where no condition is known of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.syntax.source_code import words_in
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import descend, dotted_name

NAMING: Final = ("cuda", "nccl", "nvidia")
"""Parts of the names of functions and classes that are for CUDA only, and say so."""
_FALLBACKS: Final = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError"})
"""The exceptions after which code does without a name that another version of a library has."""

_TELLING: Final = frozenset(
    "print pprint info debug warning error critical log info_once warning_once write echo set_description"
    " set_description_str set_postfix set_postfix_str".split()
)
"""The last names of the functions that show a text to a person."""
_DEVICE: Final = re.compile(r"cuda(:\d*)?")
"""A text that is the name of a device, and no text about CUDA."""

_OTHER_CHOICES: Final = frozenset({"cpu", "mps", "xpu", "is_available", "current_accelerator"})
"""Words of code that takes another device than the one that it names."""


def is_asked_for(path: Sequence[cst.CSTNode], words: Collection[str]) -> bool:
    """Return whether a test around a node mentions one of some words, in small letters.

    `path` are the nodes from the top-level statement down to the node. Tests are those of `if`, `while`, `and` and
    `or`, and the decorators of the functions around the node.
    """
    return any(part in word.lower() for test in _tests(path) for word in words_in(test) for part in words)


def is_fallback(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node runs only where a name or a module is missing, in the handler of such an exception."""
    handlers = (one for one in path if isinstance(one, cst.ExceptHandler) and one.type is not None)
    return any(not _FALLBACKS.isdisjoint(words_in(one.type)) for one in handlers if one.type is not None)


def is_named_for_cuda(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is in a function or class whose name says that it is for CUDA."""
    return any(is_name_for_cuda(one.name.value) for one in path if isinstance(one, (cst.FunctionDef, cst.ClassDef)))


def is_name_for_cuda(name: str) -> bool:
    """Return whether the name of a function, a class or a module says that it is for CUDA."""
    return any(part in name.lower() for part in NAMING)


def names_device_in_branch(path: Sequence[cst.CSTNode], device: str) -> bool:
    """Return whether a branch around a node writes out a device of a type, and asks for no other one.

    The branch then chooses the device and what belongs to it together. The code under `if __name__` is no such branch.
    """
    for test, branch in _branches(path):
        words = [one.strip("rbufRBUF\"'") for one in words_in(branch)]
        named = any(one == device or one.startswith(f"{device}:") for one in words)
        if named and not _OTHER_CHOICES.intersection(words) and "__name__" not in words_in(test):
            return True
    return False


def sets_device_itself(path: Sequence[cst.CSTNode], device: str) -> bool:
    """Return whether the function around a node sets a device of its own, by writing out one of a type each time.

    A name that the file binds to the device which it chooses then means another device in this function. So does an
    attribute of the object, where all methods of the class around the function set it in this way.
    """
    function = function_around(path)
    around = next((one for one in path if isinstance(one, cst.ClassDef)), None)
    set_there = [] if function is None else [*_devices_set_in(function.body)]
    if not set_there and around is not None:
        set_there = [*_own_devices_set_in(around.body)]
    return bool(set_there) and all(_is_written_device(one, device) for one in set_there)


def _own_devices_set_in(body: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield what the methods of a class assign to the attribute `device` of their object."""
    for one in descend(body):
        match one:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                if dotted_name(target) == "self.device":
                    yield value


def _devices_set_in(body: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield what a block assigns to plain names that are about a device."""
    for one in descend(body):
        match one:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                if name.lower().endswith(("device", "dev")):
                    yield value


def _is_written_device(value: cst.BaseExpression, device: str) -> bool:
    """Return whether an expression is a device of a type that it writes out, as `torch.device(f"cuda:{rank}")`."""
    match value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="device")), args=[cst.Arg(value=inner), *_]):
            return _is_written_device(inner, device)
        case cst.SimpleString():
            text = str(value.raw_value)
            return text == device or text.startswith(f"{device}:")
        case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]):
            return text.startswith(f"{device}:")
    return False


def is_index_beside_cuda(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a call, a node, gives the index of a device whose type the code around it writes out as CUDA.

    It is an argument of `.cuda()` or of `torch.device("cuda", ...)`, or a part of a text such as `f"cuda:{index}"`.
    What ties such code to CUDA is the type.
    """
    for one in reversed(path):
        match one:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="cuda"))):
                return True
            case cst.Call(args=[cst.Arg(value=cst.SimpleString(value="'cuda'" | '"cuda"')), _]):
                return True
            case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]) if text.startswith("cuda:"):
                return True
            case cst.BaseSmallStatement() | cst.BaseCompoundStatement():
                return False
    return False


def function_around(path: Sequence[cst.CSTNode]) -> cst.FunctionDef | None:
    """Return the innermost function in a path of nodes; None for code in no function."""
    return next((one for one in reversed(path) if isinstance(one, cst.FunctionDef)), None)


def statement_of(path: Sequence[cst.CSTNode]) -> cst.CSTNode:
    """Return the innermost statement in a path of nodes; the last node of a path without statements."""
    statements = (one for one in reversed(path) if isinstance(one, (cst.BaseSmallStatement, cst.BaseCompoundStatement)))
    return next(statements, path[-1])


def is_annotation(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is part of an annotation."""
    return any(isinstance(one, cst.Annotation) for one in path)


def is_type_asked_for(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node stands for a type that values are compared with, or for one of a union of types."""
    for above, below in reversed([*pairwise(path)]):
        match above:
            case cst.Tuple() | cst.Element() | cst.Arg() | cst.Index() | cst.ComparisonTarget():
                continue
            case cst.BinaryOperation(operator=cst.BitOr()) | cst.SubscriptElement():
                return True
            case cst.Call(func=cst.Name(value="isinstance" | "issubclass"), args=[_, kinds]):
                return kinds is below and not _is_demanded(path)
            case cst.Comparison(left=left, comparisons=targets):
                return any(is_call_of_type(one) for one in (left, *(each.comparator for each in targets)))
        return False
    return False


def _is_demanded(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether code raises an error where a test around a node does not hold."""
    for above, below in pairwise(path):
        match above:
            case cst.Assert(test=test) if below is test:
                return True
            case cst.If(test=cst.UnaryOperation(operator=cst.Not()) as test, body=body) if below is test:
                return any(isinstance(one, cst.Raise) for one in descend(body))
    return False


def is_context_never_entered(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is the call in `with call() and other():`, which enters the other context alone."""
    for item, above, below in zip(path, path[1:], path[2:], strict=False):
        match above:
            case cst.BooleanOperation(left=cst.Call() as left, operator=cst.And()):
                if isinstance(item, cst.WithItem) and below is left:
                    return True
    return False


def is_call_of_type(node: cst.CSTNode) -> bool:
    """Return whether an expression asks for the type of a value: `type(x)`."""
    match node:
        case cst.Call(func=cst.Name(value="type"), args=[_]):
            return True
    return False


def is_chosen_beside(path: Sequence[cst.CSTNode], names: Collection[str]) -> bool:
    """Return whether the other branch of a condition around a node, in its function, uses one of some dotted names."""
    for above, below in reversed([*pairwise(path)]):
        match above:
            case cst.FunctionDef() | cst.ClassDef():
                return False
            case cst.If(body=body, orelse=other) | cst.IfExp(body=body, orelse=other) if other is not None:
                beside = {id(body): other, id(other): body}.get(id(below))
                if beside is not None and any(dotted_name(one) in names for one in (beside, *descend(beside))):
                    return True
    return False


def is_called_beside(path: Sequence[cst.CSTNode], names: Collection[str]) -> bool:
    """Return whether a statement of a block around a node, in the same function, is a call of one of dotted names."""
    for one in reversed(path):
        if isinstance(one, (cst.IndentedBlock, cst.Module)) and any(is_call_of(line, names) for line in one.body):
            return True
        if isinstance(one, (cst.FunctionDef, cst.ClassDef)):
            return False
    return False


def is_any_called(names: Collection[str], statements: Sequence[Statement]) -> bool:
    """Return whether one of the top-level statements of a file is a call of one of some dotted names."""
    last = {one.rpartition(".")[2] for one in names}
    found = (one for one in statements if one.kind == "other" and not last.isdisjoint(one.mentions))
    trees = (one.tree_or_none for one in found)
    return any(is_call_of(tree, names) for tree in trees if tree is not None)


def is_call_of(statement: cst.CSTNode, names: Collection[str]) -> bool:
    """Return whether a statement is a call of one of some dotted names, whose result may be kept."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=value) | cst.Assign(value=value)]):
            return isinstance(value, cst.Call) and dotted_name(value.func) in names
    return False


def is_told_as_cuda(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is in a statement that prints or logs a text about CUDA, such as "CUDA devices: 2"."""
    texts = texts_in(statement_of(path)) if is_told(path) else ()
    return any("cuda" in text.lower() and not _DEVICE.fullmatch(text) for text in texts)


def is_told(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is in a statement that shows a text to a person: it prints or logs something."""
    match statement_of(path):
        case cst.Expr(value=cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)))):
            return name in _TELLING
    return False


def is_replaced_by_test(path: Sequence[cst.CSTNode], name: str) -> bool:
    """Return whether a test around a node replaces the library's member of a dotted name: `with patch("a.b"):`."""
    around: list[cst.CSTNode] = []
    for one in path:
        if isinstance(one, cst.With):
            around += one.items
        elif isinstance(one, cst.FunctionDef | cst.ClassDef):
            around += one.decorators
    return any(text.endswith(name) for one in around for text in texts_in(one))


def texts_in(node: cst.CSTNode) -> Iterator[str]:
    """Yield the texts written out in code, those of formatted strings in parts."""
    for one in (node, *descend(node)):
        if isinstance(one, cst.SimpleString):
            yield one.raw_value
        elif isinstance(one, cst.FormattedStringText):
            yield one.value


def _branches(path: Sequence[cst.CSTNode]) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Yield the branches of `if` around a node in its function, from the inside, each with the test that decides."""
    test: cst.CSTNode | None = None
    found: list[tuple[cst.CSTNode, cst.CSTNode]] = []
    for above, below in pairwise(path):
        if isinstance(above, (cst.FunctionDef, cst.ClassDef)):
            found = []
        elif isinstance(above, cst.If):
            test = above.test
        if test is not None and isinstance(above, (cst.If, cst.Else)) and isinstance(below, cst.IndentedBlock):
            found.append((test, below))
    yield from reversed(found)


def _tests(path: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """Yield the tests that decide whether a node runs."""
    for above, below in pairwise(path):
        match above:
            case cst.If(test=test) | cst.IfExp(test=test) | cst.While(test=test) if below is not test:
                yield test
            case cst.BooleanOperation(left=left) if below is not left:
                yield left
            case cst.FunctionDef(decorators=decorators) | cst.ClassDef(decorators=decorators):
                yield from (one.decorator for one in decorators if one is not below)
