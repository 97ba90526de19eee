"""Guards: conditions on the device around code, under which the code belongs to one backend on purpose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from devlint.fixes.fix_context import NodeRegion
from devlint.interpreter.program.definitions import names_bound_by
from devlint.syntax.tree_walk import descend

_DEVICE_WORDS: Final = frozenset(
    "accelerator available backend cpu cuda device devices devs gpu gpus hip hpu mps nccl no_cuda npu rocm tpu xla xpu"
    " nvidia cudnn".split()
)
"""Words in a condition that make it one on the device; identifiers are read word by word."""

_GIVEN_WORDS: Final = frozenset({"device", "devices", "devs"})
"""Words for a device of any kind: a condition whether one is given says nothing about the backend."""

_WORD: Final = re.compile(r"[A-Za-z]+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDS_BLOCK: Final = (cst.Return, cst.Raise, cst.Continue, cst.Break)
_STOPPING_CALLS: Final = ("exit", "skip", "skipTest", "_exit", "fail")
"""Names of functions that do not return, by their last part."""


def guard_around(region: NodeRegion, node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the condition or the decorator on the device that decides whether a node runs; None without one.

    A condition that ends its block early, such as `if not torch.cuda.is_available(): return`, guards what follows it. A
    condition around the node counts on all its branches.
    """
    below = node
    for above in region.ancestors(node):
        found = _guard_at(above, below)
        if found is not None:
            return found
        below = above
    return None


def test_around(region: NodeRegion, node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the condition that a node is part of, such as the test of an `if`; None for a node in no condition."""
    below = node
    for above in region.ancestors(node):
        match above:
            case (
                cst.If(test=test)
                | cst.IfExp(test=test)
                | cst.While(test=test)
                | cst.Assert(test=test)
                | cst.CompIf(test=test)
            ):
                return test if test is below else None
            case cst.Comparison() | cst.BooleanOperation() | cst.UnaryOperation(operator=cst.Not()):
                return above
            case cst.BaseStatement() | cst.BaseSmallStatement():
                return None
        below = above
    return None


def choice_after(region: NodeRegion, node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the condition on the device under which a name that is bound to a node gets another value; else None.

    `f = torch.cuda.f`, and then `if "npu" in device: f = torch.npu.f`.
    """
    match region.parent(node):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) as assignment:
            line = region.parent(assignment)
            block = region.parent(line) if line is not None else None
            after = block.body[block.body.index(line) + 1 :] if isinstance(block, cst.IndentedBlock) else ()
            for one in after:
                match one:
                    case cst.If(test=test, body=body) if is_about_device(test):
                        if any(name in names_bound_by(part) for part in descend(body)):
                            return test
    return None


def choice_in_argument(region: NodeRegion, node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the condition on the device that decides on the only argument of a call, given its function; else None.

    `torch.cuda.stream(torch.cuda.Stream() if device.type == "cuda" else None)`.
    """
    match region.parent(node):
        case cst.Call(func=func, args=[cst.Arg(value=cst.IfExp(test=test))]) if func is node:
            return test if is_about_device(test) else None
    return None


def is_default_of_choice(region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether a node is what the module of a device is where torch has none: `getattr(torch, type, torch.cuda)`.

    The type is no text that is written out.
    """
    argument = region.parent(node)
    match region.parent(argument) if argument is not None else None:
        case cst.Call(
            func=cst.Name(value="getattr"), args=[cst.Arg(value=cst.Name(value="torch")), cst.Arg(value=type_), last]
        ):
            return last is argument and not isinstance(type_, cst.SimpleString)
    return False


def is_about_device(test: cst.CSTNode) -> bool:
    """Return whether a condition asks for a device, a backend or its availability.

    Whether a device is given at all (`device is None`, `device == "auto"`) does not ask which one it is.
    """
    match test:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(comparator=cst.Name(value="None") | cst.SimpleString())]):
            words = {word for text in _texts(test) for word in _words(text)} & _DEVICE_WORDS
            if words <= _GIVEN_WORDS:
                return False
    return any(word in _DEVICE_WORDS for text in _texts(test) for word in _words(text))


def _guard_at(above: cst.CSTNode, below: cst.CSTNode) -> cst.CSTNode | None:
    """Return what `above` contributes to the guards of its child `below`: a condition on the device, or None."""
    match above:
        case cst.If(test=test) | cst.IfExp(test=test) | cst.While(test=test):
            return test if below is not test and is_about_device(test) else None
        case cst.BooleanOperation(left=left):
            return left if below is not left and is_about_device(left) else None
        case cst.BaseComp() | cst.CompFor(ifs=[_, *_]):
            tests = [one.test for part in (above, *descend(above)) if isinstance(part, cst.CompFor) for one in part.ifs]
            return next((one for one in tests if one is not below and is_about_device(one)), None)
        case cst.FunctionDef(decorators=decorators, name=name):
            if name.value == "cuda":
                return name
            return next((one for one in decorators if one is not below and is_about_device(one)), None)
        case cst.ClassDef(decorators=decorators):
            return next((one for one in decorators if one is not below and is_about_device(one)), None)
        case cst.IndentedBlock(body=body) | cst.Module(body=body):
            return next(_early_exits(body, below), None)
    return None


def _early_exits(block: Sequence[cst.CSTNode], end: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the conditions on the device by which statements of a block, before `end`, leave the block or refuse."""
    for statement in block:
        if statement is end:
            return
        test = early_exit(statement)
        if test is not None:
            yield test


def early_exit(statement: cst.CSTNode) -> cst.CSTNode | None:
    """Return the condition on the device under which a statement leaves its block or refuses; None without one."""
    match statement:
        case cst.If(test=test, body=body, orelse=None) if is_about_device(test) and _leaves(body):
            return test
        case cst.SimpleStatementLine(body=[cst.Assert(test=test)]) if is_about_device(test):
            return test
    return None


def _leaves(body: cst.BaseSuite) -> bool:
    """Return whether a block leaves the code around it at its end: by return, raise, or a call that does not return."""
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    match last:
        case cst.Expr(value=cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)))):
            return name in _STOPPING_CALLS
    return isinstance(last, _ENDS_BLOCK)


def _texts(node: cst.CSTNode) -> Iterator[str]:
    """Yield the identifiers and the string literals in code."""
    for one in (node, *descend(node)):
        if isinstance(one, (cst.Name, cst.SimpleString, cst.FormattedStringText)):
            yield one.value


def _words(text: str) -> Iterator[str]:
    """Yield the words of an identifier or a text, in small letters: those between underscores, digits and humps."""
    for part in _WORD.findall(text):
        yield from (one.lower() for one in _CAMEL.split(part))
