"""The effect of each kind of statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import libcst as cst

from devlint.flow.arguments import Argument
from devlint.flow.assignment import assign, unbind
from devlint.flow.classes import class_of_definition
from devlint.flow.contexts import enter, leave
from devlint.flow.definitions import bound_by
from devlint.flow.events import RebindUnused
from devlint.flow.expressions import closure, truth
from devlint.flow.foreign import declare
from devlint.flow.iteration import iterate
from devlint.flow.liveness import read_after
from devlint.flow.modules import imported
from devlint.flow.opaque import looks_like_tensor
from devlint.flow.operators import augmented
from devlint.flow.patterns import conjunction, match_pattern
from devlint.flow.refinement import narrow, test_of
from devlint.flow.run import LoopFrame, Run, statement
from devlint.flow.state import State, merge, same
from devlint.syntax.walk import dotted_name
from devlint.values.condition import Test
from devlint.values.value import NONE, UNKNOWN, Callable_, Tensor, Value, as_tensor

MAX_ROUNDS: Final = 3
"""Times a loop's body is run before what still changes is given up as unknown; nearly all settle in two."""

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
        assign(run, target.target, value)
        if isinstance(target.target, cst.Name):
            _check_rebinding(run, node, target.target.value, value)


@statement(cst.AnnAssign)
def annotated(run: Run, node: cst.AnnAssign) -> None:
    """`a: T = value`."""
    if node.value is not None:
        assign(run, node.target, run.evaluate(node.value))


@statement(cst.AugAssign)
def augmented_assignment(run: Run, node: cst.AugAssign) -> None:
    """`a += value`: in place on what is mutable."""
    assign(run, node.target, augmented(run, node))


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


@statement(cst.Raise)
def raise_(run: Run, node: cst.Raise) -> None:
    """`raise`: the path ends here."""
    if node.exc is not None:
        run.evaluate(node.exc)
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


@statement(cst.While)
def while_(run: Run, node: cst.While) -> None:
    """`while`: zero or more times."""

    def head() -> None:
        test_of(run, node.test)
        narrow(run, node.test, True)

    _repeat(run, node, head)
    run.execute(node.orelse) if node.orelse is not None else None


@statement(cst.For)
def for_(run: Run, node: cst.For) -> None:
    """`for`: once for each element of a short known sequence, else until nothing changes."""
    found = iterate(run, run.evaluate(node.iter), node.iter)
    if found.items is not None:
        _unroll(run, node, found.items)
    else:
        _repeat(run, node, lambda: assign(run, node.target, found.element))
    run.execute(node.orelse) if node.orelse is not None else None


def _frame(run: Run, node: cst.For | cst.While) -> LoopFrame:
    head = node.target if isinstance(node, cst.For) else node.test
    return LoopFrame(run.loop_at(head), node, run.engine.assigned(node))


def _unroll(run: Run, node: cst.For, items: Sequence[Value]) -> None:
    frame = _frame(run, node)
    run.loops.append(frame)
    for item in items:
        if not run.state.live:
            break
        assign(run, node.target, item)
        run.execute(node.body)
        run.state = _join_all([run.state, *frame.continues])
        frame.continues.clear()
    run.loops.pop()
    run.state = _join_all([run.state, *frame.breaks])


def _repeat(run: Run, node: cst.For | cst.While, head: Callable[[], None]) -> None:
    frame = _frame(run, node)
    run.loops.append(frame)
    for attempt in range(MAX_ROUNDS):
        start = run.state
        run.state = start.fork()
        head()
        run.execute(node.body)
        end = _join_all([run.state, *frame.continues])
        frame.continues.clear()
        run.state = merge(start.fork(), end) if end.live else start
        if same(start, run.state):
            break
        if attempt == MAX_ROUNDS - 1:
            _widen(start, run.state)
    run.loops.pop()
    run.state = _join_all([run.state, *frame.breaks])


def _widen(before: State, after: State) -> None:
    """Give up on the names that a loop keeps changing."""
    for name, value in after.names.items():
        if before.names.get(name) != value and name in before.names:
            after.names[name] = UNKNOWN


def _join_all(states: list[State]) -> State:
    result = states[0]
    for state in states[1:]:
        result = merge(result, state)
    return result


@statement(cst.Break)
def break_(run: Run, node: cst.Break) -> None:
    """`break`."""
    _leave(run, lambda frame: frame.breaks)


@statement(cst.Continue)
def continue_(run: Run, node: cst.Continue) -> None:
    """`continue`."""
    _leave(run, lambda frame: frame.continues)


def _leave(run: Run, exits: Callable[[LoopFrame], list[State]]) -> None:
    if run.loops:
        exits(run.loops[-1]).append(run.state.fork())
    run.state.live = False


@statement(cst.Try, cst.TryStar)
def try_(run: Run, node: cst.Try | cst.TryStar) -> None:
    """`try`: a handler may be entered from before the body, or from after any part of it."""
    before = run.state.fork()
    run.execute(node.body)
    after_body = run.state
    entered = merge(before.fork(), after_body.fork()) if after_body.live else before.fork()
    ends: list[State] = []
    if node.orelse is not None:
        run.execute(node.orelse)
    ends.append(run.state)
    for handler in node.handlers:
        run.state = entered.fork()
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            run.bind(handler.name.name.value, UNKNOWN)
        run.execute(handler.body)
        ends.append(run.state)
    run.state = _join_all(ends)
    if node.finalbody is not None:
        live = run.state.live
        run.state.live = True
        run.execute(node.finalbody)
        run.state.live = run.state.live and live


@statement(cst.With)
def with_(run: Run, node: cst.With) -> None:
    """`with`: some contexts change what surrounds the operations inside."""
    changes: dict[str, object] = {}
    entered: list[Argument] = []
    for item in node.items:
        value = run.evaluate(item.item)
        bound, change = enter(run, value, item.item)
        changes.update(change)
        entered.append(Argument(value, item.item))
        if item.asname is not None:
            assign(run, item.asname.name, bound)
    with run.ambient(**changes):
        run.execute(node.body)
    for one in reversed(entered):
        leave(run, one.value, one.node)


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
    run.state = _join_all([run.state, *reversed(ends)])
