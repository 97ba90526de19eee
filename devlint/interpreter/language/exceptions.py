"""Handlers of `try` and `raise`: the states in which an exception may be caught, and the code of `finally` clauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import libcst as cst

from devlint.domain.objects import Sequence
from devlint.domain.path_conditions import RAISED, Atom, Literal
from devlint.domain.value import UNKNOWN, ProgramDefinition
from devlint.interpreter.conditions.condition_texts import RaisedText
from devlint.interpreter.language.numpy_handlers import execute_handler
from devlint.interpreter.program.definitions import names_bound_by
from devlint.interpreter.program.host_fallbacks import is_retried_on_host
from devlint.interpreter.state.abstract_state import State, join_all_states, join_states
from devlint.interpreter.state.frame import Frame, executes
from devlint.syntax.tree_walk import descend, dotted_name

IMPORT_ERRORS: Final = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})
"""The exceptions under which programs catch a failing import."""


@executes(cst.Raise)
def raise_(frame: Frame, node: cst.Raise) -> None:
    """Execute `raise`: end the path, and keep its abstract state for the handlers of an enclosing `try`."""
    if node.exc is not None:
        frame.evaluate(node.exc)
    frame.fail(chosen=True)


def execute_failing(frame: Frame, body: cst.BaseSuite) -> State:
    """Execute statements that may raise exceptions.

    Return the join of the abstract states in which such an exception may be caught: those before and after each
    statement that may raise one. The state is not live where none may.
    """
    failures: list[State] = []
    frame.exception_states.append(failures)
    is_recorded = False
    for one in body.body:
        harmless = _cannot_raise(frame, one)
        if frame.state.live and not harmless and not is_recorded:
            failures.append(frame.state.fork())
        frame.execute(one)
        is_recorded = frame.state.live and not harmless
        if is_recorded:
            failures.append(frame.state.fork())
    frame.exception_states.pop()
    if not failures:
        failures.append(frame.state.fork())
        failures[0].live = False
    joined = join_all_states(failures)
    if joined.bound_if:
        # An exception between the recorded states may have come after any of the bindings.
        inside = frame.analysis.facts.names_bound(body)
        joined.bound_if = {name: when for name, when in joined.bound_if.items() if name not in inside}
    return joined


def _cannot_raise(frame: Frame, statement: cst.CSTNode) -> bool:
    """Return whether a statement surely raises nothing: it binds names to known values, or appends one to a list."""
    return isinstance(statement, cst.SimpleStatementLine) and all(_is_harmless(frame, one) for one in statement.body)


def _is_harmless(frame: Frame, part: cst.BaseSmallStatement) -> bool:
    """Return whether a statement without a body of its own surely raises nothing."""
    match part:
        case cst.Pass():
            return True
        case cst.Assign(targets=targets, value=value):
            return all(isinstance(one.target, cst.Name) for one in targets) and _is_known(frame, value)
        case cst.Expr(
            value=cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append")), args=[given])
        ):
            thing = frame.object_of(frame.lookup(name))
            is_list = isinstance(thing, Sequence) and thing.kind == "list"
            return is_list and given.keyword is None and not given.star and _is_known(frame, given.value)
    return False


def _is_known(frame: Frame, value: cst.BaseExpression) -> bool:
    """Return whether an expression is a constant or a name that is bound: evaluating it raises nothing."""
    if isinstance(value, cst.Name):
        return frame.lookup(value.value) is not None
    return isinstance(value, (cst.Integer, cst.Float, cst.SimpleString))


class EarlyExits:
    """The abstract states that leave a block of code early, by `return`, `break` or `continue`.

    Only those that the frame records after the creation of the `EarlyExits` object count.
    """

    def __init__(self, frame: Frame) -> None:
        """Note how many early exits the frame has recorded so far, so that only later ones are counted."""
        self._frame = frame
        self._return_count = len(frame.returns)
        exit_lists = [frame.loops[-1].breaks, frame.loops[-1].continues] if frame.loops else []
        self._loop_exits = [(exit_states, len(exit_states)) for exit_states in exit_lists]

    def __bool__(self) -> bool:
        """Return whether any abstract state has left the block early."""
        return len(self._frame.returns) > self._return_count or any(
            len(exit_states) > count for exit_states, count in self._loop_exits
        )

    def finish(self, last: Callable[[], None]) -> None:
        """Run `last` (a `finally` clause or a context's exit code) on each abstract state that left the block early."""
        frame = self._frame
        end = frame.state

        def after(state: State) -> State:
            frame.state = state
            last()
            return frame.state

        exits, frame.returns[self._return_count :] = frame.returns[self._return_count :], []
        frame.returns += [(done, value) for state, value in exits if (done := after(state)).live]
        for exit_states, count in self._loop_exits:
            exit_states[count:] = [done for state in exit_states[count:] if (done := after(state)).live]
        frame.state = end


@executes(cst.Try, cst.TryStar)
def try_(frame: Frame, node: cst.Try | cst.TryStar) -> None:
    """Execute `try`: a handler may be entered from the start of the body and after each of the body's statements."""
    early_exits = EarlyExits(frame)
    failed: State | None = None
    if node.handlers:
        frame.expected_exceptions.append(_expected(node))
        with frame.failure_wanted(is_retried_on_host(node, frame.function)):
            failed = execute_failing(frame, node.body)
        frame.expected_exceptions.pop()
        if _has_imported(frame, node):
            failed = None
    else:
        frame.execute(node.body)
    if node.orelse is not None:
        frame.execute(node.orelse)
    finished, handled = frame.state, list[State]()
    for handler in node.handlers:
        if failed is None:
            break
        frame.state = failed.fork()
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            frame.bind(handler.name.name.value, UNKNOWN)
        execute_handler(frame, node.body, handler.body)
        handled.append(frame.state)
    frame.state = _join_outcomes(frame, node, finished, handled)
    if node.finalbody is not None:
        _finally(frame, node.finalbody, early_exits)


def _join_outcomes(frame: Frame, node: cst.Try | cst.TryStar, finished: State, handled: list[State]) -> State:
    """Return the state after a `try` statement: where its body came to its end, and where a handler has run.

    What the two leave differs under the condition that the body has raised an exception.
    """
    if not handled:
        return finished
    caught = join_all_states(handled)
    if finished.live and caught.live:
        raised = Literal(Atom((RAISED, *frame.site_key(node)), RaisedText(frame.place(node), node)))
        finished.assume(~raised)
        caught.assume(raised)
    return join_states(finished, caught)


def _expected(node: cst.Try | cst.TryStar) -> frozenset[str]:
    """Return the names of the exceptions that the handlers of a `try` statement name and do not raise again.

    The empty text stands for a handler of any exception.
    """
    handlers = [one for one in node.handlers if not any(isinstance(part, cst.Raise) for part in descend(one.body))]
    types = [one.type for one in handlers if one.type is not None]
    alone = [
        part
        for one in types
        for part in ([element.value for element in one.elements] if isinstance(one, cst.Tuple) else [one])
    ]
    names = frozenset(dotted_name(one) or "" for one in alone)
    return names if len(types) == len(handlers) else names | {""}


def _has_imported(frame: Frame, node: cst.Try | cst.TryStar) -> bool:
    """Return whether a `try` body only imports names that the program's own files define.

    Such an import does not fail, so no handler of an ImportError is entered.
    """
    imports = [
        part for line in node.body.body for part in (line.body if isinstance(line, cst.SimpleStatementLine) else ())
    ]
    if not all(isinstance(one, cst.ImportFrom) for one in imports) or len(imports) < len(node.body.body):
        return False
    if any((dotted_name(one.type) or "") not in IMPORT_ERRORS for one in node.handlers if one.type is not None):
        return False
    names = {name for one in imports for name in names_bound_by(one)}
    found = [frame.state.names.get(name) for name in names]
    return all(isinstance(one, ProgramDefinition) for one in found)


def _finally(frame: Frame, body: cst.Finally, early_exits: EarlyExits) -> None:
    """Run a `finally` clause on each state that leaves its `try` statement early (by `return`, `break`, `continue`).

    The clause is run at the normal end of the statement too.
    """
    # A body that no recorded exit explains was left by an exception.
    unexplained = not frame.state.live and not early_exits
    early_exits.finish(lambda: frame.execute(body))
    frame.state.live = frame.state.live or unexplained
    frame.execute(body)
    frame.state.live = frame.state.live and not unexplained
