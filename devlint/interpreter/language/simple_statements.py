"""The effect of each kind of statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import libcst as cst

from devlint.domain.path_conditions import Test
from devlint.domain.value import NONE, Callable_, Tensor, Value, as_tensor
from devlint.interpreter.conditions.narrowing import narrow, test_of
from devlint.interpreter.language.attribute_stores import unbind
from devlint.interpreter.language.expressions import closure, truth
from devlint.interpreter.language.import_bindings import imported
from devlint.interpreter.language.match_patterns import conjunction, match_pattern
from devlint.interpreter.language.nonlocals import declare
from devlint.interpreter.language.operators import augmented
from devlint.interpreter.objects.class_hierarchy import class_of_definition
from devlint.interpreter.objects.evidence import looks_like_tensor
from devlint.interpreter.program.definitions import bound_by
from devlint.interpreter.program.liveness import read_after
from devlint.interpreter.state.abstract_state import State, merge, merge_all
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.events import RebindUnused
from devlint.interpreter.state.frame import Run, statement
from devlint.syntax.tree_walk import dotted_name

REBINDING: Final = frozenset("to cuda cpu half float double bfloat16 type pin_memory detach contiguous xpu".split())
"""Methods whose result people rebind to the name they called it on."""


@statement(cst.SimpleStatementLine, cst.IndentedBlock, cst.SimpleStatementSuite)
def block(run: Run, node: cst.SimpleStatementLine | cst.IndentedBlock | cst.SimpleStatementSuite) -> None:
    """Statements in order."""
    run.execute_all(node.body)


@statement(cst.Expr)
def expression_statement(run: Run, node: cst.Expr) -> None:
    """An expression whose value is thrown away."""
    run.discarded = node.value
    run.evaluate(node.value)
    run.discarded = None


@statement(cst.Assign)
def assignment(run: Run, node: cst.Assign) -> None:
    """`a = b = value`."""
    value = run.evaluate(node.value)
    for target in node.targets:
        run.assign(target.target, value)
        if type(node.value) is cst.Call and type(target.target) is cst.Name:
            _check_rebinding(run, node, target.target.value, value)


@statement(cst.AnnAssign)
def annotated(run: Run, node: cst.AnnAssign) -> None:
    """`a: T = value`."""
    if node.value is not None:
        run.assign(node.target, run.evaluate(node.value))


@statement(cst.AugAssign)
def augmented_assignment(run: Run, node: cst.AugAssign) -> None:
    """`a += value`: in place on what is mutable."""
    run.assign(node.target, augmented(run, node))


def _check_rebinding(run: Run, node: cst.Assign, name: str, value: Value) -> None:
    """Tell when a moved value is bound to a name that nobody reads: the caller, or the list, keeps the old one."""
    match node.value:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=method))) if method in REBINDING:
            if dotted_name(receiver) != name or not (isinstance(value, Tensor) or looks_like_tensor(run, receiver)):
                return
        case _:
            return
    tensor = as_tensor(value)
    if tensor is None:
        return
    body = run.function.node if run.function is not None else run.unit.tree
    frame = next((one for one in reversed(run.loops) if isinstance(one.node, cst.For)), None)
    if frame is not None and name in bound_by(frame.node):
        if not read_after(body, node, name):
            run.emit(RebindUnused(run.context_at(node.value), name, method, tensor, run.place(frame.node)))
    elif run.function is not None and any(one.name == name for one in run.function.parameters):
        loop = run.loops[0].node if run.loops else None
        if not read_after(body, node, name, loop):
            run.emit(RebindUnused(run.context_at(node.value), name, method, tensor))


@statement(cst.Return)
def return_(run: Run, node: cst.Return) -> None:
    """`return value`."""
    value = run.evaluate(node.value) if node.value is not None else NONE
    if run.state.live:
        run.exits.append((run.state.fork(), value))
    run.state.live = False


@statement(cst.Assert)
def assert_(run: Run, node: cst.Assert) -> None:
    """`assert test`: what follows may rely on it."""
    test_of(run, node.test)
    narrow(run, node.test, True)


@statement(cst.Del)
def delete(run: Run, node: cst.Del) -> None:
    """`del target`."""
    unbind(run, node.target)


@statement(cst.Global, cst.Nonlocal)
def foreign(run: Run, node: cst.Global | cst.Nonlocal) -> None:
    """Names that belong to the code around."""
    declare(run, [item.name.value for item in node.names])


@statement(cst.Import)
def import_(run: Run, node: cst.Import) -> None:
    """`import a.b as c`."""
    for alias in node.names:
        module = dotted_name(alias.name) or ""
        name = (
            alias.asname.name.value
            if alias.asname and isinstance(alias.asname.name, cst.Name)
            else module.partition(".")[0]
        )
        run.bind(name, imported(run, module, None, 0, name))


@statement(cst.ImportFrom)
def import_from(run: Run, node: cst.ImportFrom) -> None:
    """`from a import b as c`."""
    if isinstance(node.names, cst.ImportStar):
        return
    module = dotted_name(node.module) or "" if node.module is not None else ""
    for alias in node.names:
        attribute = dotted_name(alias.name) or ""
        name = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else attribute
        run.bind(name, imported(run, module, attribute, len(node.relative), name))


@statement(cst.FunctionDef)
def function(run: Run, node: cst.FunctionDef) -> None:
    """`def`: the function with the code around it as closure."""
    run.bind(node.name.value, Callable_(closure(run, node, node.name.value)))


@statement(cst.ClassDef)
def class_(run: Run, node: cst.ClassDef) -> None:
    """`class`: its body is run when somebody needs it."""
    run.bind(node.name.value, Callable_(class_of_definition(run, node)))


@statement(cst.If)
def if_(run: Run, node: cst.If) -> None:
    """`if`: both ways, each knowing what the test says, joined under that test."""
    known = truth(run, node.test)

    def follow(holds: bool) -> Callable[[], None]:
        def path() -> None:
            narrow(run, node.test, holds)
            if holds:
                run.execute(node.body)
            elif node.orelse is not None:
                run.execute(node.orelse)

        return path

    if known is not None:
        follow(known)()
        return
    yes, no = run.branch(follow(True), follow(False))
    run.state = merge(yes, no)


@statement(cst.Else, cst.Finally)
def else_(run: Run, node: cst.Else | cst.Finally) -> None:
    """The body of an `else` or `finally`."""
    run.execute(node.body)


@statement(cst.Match)
def match_(run: Run, node: cst.Match) -> None:
    """`match`: each case in turn, knowing that those before it did not match; one that surely matches is the last."""
    subject = Argument(run.evaluate(node.subject), node.subject)
    ends: list[State] = []
    for case in node.cases:
        before, run.state = run.state, run.state.fork()
        answer = match_pattern(run, case.pattern, subject)
        if isinstance(answer, Test):
            run.state.assume(answer)
        elif not answer:
            run.state.live = False
        if case.guard is not None and run.state.live:
            answer = conjunction([answer, test_of(run, case.guard) or False])
            narrow(run, case.guard, True)
        run.execute(case.body)
        ends.append(run.state)
        run.state = before
        if isinstance(answer, Test):
            run.state.assume(~answer)
        elif answer:
            run.state.live = False
        if not run.state.live:
            break
    # From the last to the first: each case then differs from all that follow by one condition.
    run.state = merge_all([run.state, *reversed(ends)])
