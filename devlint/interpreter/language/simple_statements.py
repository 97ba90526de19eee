"""Handlers of statements other than loops, `try` and `with`: assignments, `if`, `match`, imports, definitions."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devlint.diagnostic import AssumptionKind
from devlint.domain.path_conditions import Literal
from devlint.domain.placement import Loop, StepKind, placement_cases
from devlint.domain.torch_names import REBOUND_METHODS
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    LibraryName,
    Number,
    OpaqueData,
    ProgramDefinition,
    Tensor,
    Value,
    as_tensor,
)
from devlint.interpreter.conditions.narrowing import condition_of, narrow
from devlint.interpreter.language.attribute_stores import delete_target
from devlint.interpreter.language.expressions import closure, truth
from devlint.interpreter.language.import_bindings import forget_default_device, imported_value
from devlint.interpreter.language.match_patterns import conjunction_of_answers, match_pattern
from devlint.interpreter.language.nonlocals import declare_outer_names
from devlint.interpreter.language.operators import augmented
from devlint.interpreter.language.starred_displays import assign_display, has_star
from devlint.interpreter.objects.class_hierarchy import class_of_definition
from devlint.interpreter.objects.evidence import looks_like_tensor
from devlint.interpreter.operations.accelerator_names import report_accelerator_name, report_chosen_accelerator
from devlint.interpreter.program.definitions import names_bound_by
from devlint.interpreter.program.liveness import is_read_after
from devlint.interpreter.state.abstract_state import State, join_all_states, join_states
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.events import UnusedRebinding
from devlint.interpreter.state.frame import Frame, LoopFrame, executes
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend, dotted_name


@executes(cst.SimpleStatementLine, cst.IndentedBlock, cst.SimpleStatementSuite)
def block(frame: Frame, node: cst.SimpleStatementLine | cst.IndentedBlock | cst.SimpleStatementSuite) -> None:
    """Execute the statements of an indented block in order."""
    frame.execute_all(node.body)


@executes(cst.Expr)
def expression_statement(frame: Frame, node: cst.Expr) -> None:
    """Evaluate an expression statement, whose value is discarded unless a notebook displays it."""
    if frame.function is None and frame.module.index.is_displayed(frame.unit) and _is_last_of(frame.unit, node):
        frame.displayed_expression = node.value
        frame.evaluate(node.value)
        frame.displayed_expression = None
        return
    frame.discarded_expression = node.value
    frame.evaluate(node.value)
    frame.discarded_expression = None


def _is_last_of(unit: Statement, node: cst.Expr) -> bool:
    """Return whether a small statement is the last of its logical line, with no `;` after it."""
    tree = unit.tree
    if not isinstance(tree, cst.SimpleStatementLine) or tree.body[-1] is not node:
        return False
    unit.lay_out()
    return isinstance(node.semicolon, cst.MaybeSentinel)


@executes(cst.Assign)
def assignment(frame: Frame, node: cst.Assign) -> None:
    """Execute the assignment `a = b = value`: evaluate the value once and assign it to each target."""
    first = node.targets[0].target
    if len(node.targets) == 1 and isinstance(first, (cst.Tuple, cst.List)) and has_star(node.value):
        assign_display(frame, first, cst.ensure_type(node.value, cst.Tuple))
        return
    value = frame.evaluate(node.value)
    report_chosen_accelerator(frame, value, node.value)
    for target in node.targets:
        name = target.target.value if type(node.value) is cst.Call and type(target.target) is cst.Name else None
        before = frame.lookup(name) if name is not None else None
        frame.assign(target.target, value)
        if name is not None:
            _check_rebinding(frame, node, name, before, value)


@executes(cst.AnnAssign)
def annotated(frame: Frame, node: cst.AnnAssign) -> None:
    """Execute the annotated assignment `a: T = value`; a declaration without a value has no effect."""
    if node.value is not None:
        frame.assign(node.target, _declared(frame.evaluate(node.value), node.annotation.annotation))


def _declared(value: Value, annotation: cst.BaseExpression) -> Value:
    """Return the value of an annotated assignment: of data of unknown structure, the annotation tells a number."""
    if isinstance(value, OpaqueData) and isinstance(annotation, cst.Name):
        if annotation.value in ("int", "float", "bool"):
            return Number(annotation.value)
        return UNKNOWN if annotation.value == "str" else value
    return value


@executes(cst.AugAssign)
def augmented_assignment(frame: Frame, node: cst.AugAssign) -> None:
    """Execute the augmented assignment `a += value`; if `a` is a mutable object, it is changed in place."""
    frame.assign(node.target, augmented(frame, node))


def _check_rebinding(frame: Frame, node: cst.Assign, name: str, before: Value | None, value: Value) -> None:
    """Report `name = name.to(device)` where the name is a loop variable or a parameter and is never read afterwards.

    The move then has no effect: the list or the caller keeps the tensor that was not moved. `before` is what the name
    held, `value` what it holds now.
    """
    match node.value:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=method))) if method in REBOUND_METHODS:
            is_part_of_batch = isinstance(before, OpaqueData) and before.of_loader and _loops_over_parts(frame)
            if dotted_name(receiver) != name or not (
                isinstance(value, Tensor) or is_part_of_batch or looks_like_tensor(frame, receiver)
            ):
                return
        case _:
            return
    tensor = as_tensor(value)
    if tensor is None:
        return
    body = frame.function.node if frame.function is not None else frame.unit.tree
    loop_frame = next((one for one in reversed(frame.loops) if isinstance(one.node, cst.For)), None)
    if loop_frame is not None and name in names_bound_by(loop_frame.node):
        if _is_moved_here(frame, before, loop_frame.loop):
            return
        if not _yields_batches(frame, loop_frame, before) and not is_read_after(body, node, name):
            frame.emit(
                UnusedRebinding(frame.event_context(node.value), name, method, tensor, frame.place(loop_frame.node))
            )
    elif (
        frame.function is not None
        and any(one.name == name for one in frame.function.parameters)
        and not _is_moved_here(frame, before)
        and not _gives_result(frame.function.node)
    ):
        loop = frame.loops[0].node if frame.loops else None
        if not is_read_after(body, node, name, loop):
            frame.emit(UnusedRebinding(frame.event_context(node.value), name, method, tensor))


def _gives_result(function: cst.FunctionDef | cst.Lambda) -> bool:
    """Return whether a function gives its caller a result, for which it is called.

    Nobody misses what such a function leaves unused. One that moves its arguments for the caller returns nothing.
    """
    return any(
        isinstance(one, cst.Yield) or (isinstance(one, cst.Return) and one.value is not None)
        for one in descend(function.body, into_functions=False)
    )


def _yields_batches(frame: Frame, loop_frame: LoopFrame, before: Value | None) -> bool:
    """Return whether a loop goes over what makes its elements anew, so that nothing keeps the tensor `before`.

    A loader does, and so may anything else whose elements the loop takes apart: nearly all such loops are over batches.
    """
    if _loops_over_parts(frame):
        return False
    match loop_frame.node:
        case cst.For(target=cst.Tuple(), iter=cst.Call(func=cst.Name(value="enumerate" | "zip"))):
            taken_apart = False
        case cst.For(target=cst.Tuple(), iter=cst.Call(func=cst.Attribute(attr=cst.Name(value=method)))):
            taken_apart = not method.startswith("named_")
        case cst.For(target=cst.Tuple()):
            taken_apart = True
        case _:
            taken_apart = False
    if loop_frame.loop.of_batches or taken_apart:
        return True
    if not isinstance(before, Tensor):
        return False
    steps = (leaf.placing_step for _, leaf in placement_cases(frame.resolve(before).placement))
    made = (one.assumption for one in steps if one is not None and one.assumption is not None)
    return any(one.kind is AssumptionKind.LOADER for one in made)


def _is_moved_here(frame: Frame, value: Value | None, loop: Loop | None = None) -> bool:
    """Return whether a value may be a copy that the running function has moved, so that it is not the caller's tensor.

    Such a copy is moved back to free the accelerator's memory. With `loop`, one moved in that loop is asked for.
    """
    if not isinstance(value, Tensor):
        return False
    steps = (leaf.placing_step for _, leaf in placement_cases(frame.resolve(value).placement))
    moves = [one for one in steps if one is not None and one.kind is StepKind.MOVED and one.scope is frame.scope]
    if loop is None:
        return bool(moves)
    return any(one.loop is not None and loop.place in (each.place for each in one.loop.around()) for one in moves)


def _loops_over_parts(frame: Frame) -> bool:
    """Return whether the innermost loop runs over values that the code lists, or over the entries of a mapping.

    So does one over a part of a batch that is read again. A loop over a loader may move batches only to see how long
    it takes.
    """
    match frame.loops[-1].node if frame.loops else None:
        case cst.For(iter=cst.List() | cst.Tuple()):
            return True
        case cst.For(iter=cst.Call(func=cst.Attribute(attr=cst.Name(value="items" | "values")))):
            return True
        case cst.For(iter=cst.Name(value=name)) as loop:
            body = frame.function.node if frame.function is not None else frame.unit.tree
            part = frame.lookup(name)
            return isinstance(part, OpaqueData) and part.of_loader and is_read_after(body, loop, name)
    return False


@executes(cst.Return)
def return_(frame: Frame, node: cst.Return) -> None:
    """Execute `return value`: record the abstract state and the value, and end the path."""
    value = frame.evaluate(node.value) if node.value is not None else NONE
    if node.value is not None:
        report_chosen_accelerator(frame, value, node.value)
    if frame.state.live:
        frame.returns.append((frame.state.fork(), value))
    frame.state.live = False


@executes(cst.Assert)
def assert_(frame: Frame, node: cst.Assert) -> None:
    """Execute `assert test`: the code that follows is run with values narrowed by the test."""
    condition_of(frame, node.test)
    narrow(frame, node.test, True)


@executes(cst.Del)
def delete(frame: Frame, node: cst.Del) -> None:
    """Execute `del target`: remove a name, an attribute or an item."""
    delete_target(frame, node.target)


@executes(cst.Global, cst.Nonlocal)
def outer_names(frame: Frame, node: cst.Global | cst.Nonlocal) -> None:
    """Execute `global a` or `nonlocal a`: the frame treats the names as those of the module or enclosing function."""
    declare_outer_names(frame, [item.name.value for item in node.names])


@executes(cst.Import)
def import_(frame: Frame, node: cst.Import) -> None:
    """Execute `import a.b as c`: bind the name to the imported module."""
    for alias in node.names:
        module = dotted_name(alias.name) or ""
        name = (
            alias.asname.name.value
            if alias.asname and isinstance(alias.asname.name, cst.Name)
            else module.partition(".")[0]
        )
        imported = imported_value(frame, module, None, 0, name)
        forget_default_device(frame, imported)
        frame.bind(name, imported)


@executes(cst.ImportFrom)
def import_from(frame: Frame, node: cst.ImportFrom) -> None:
    """Execute `from a import b as c`: bind each imported member; `import *` is ignored by this handler."""
    if isinstance(node.names, cst.ImportStar):
        return
    module = dotted_name(node.module) or "" if node.module is not None else ""
    for alias in node.names:
        attribute = dotted_name(alias.name) or ""
        name = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else attribute
        value = imported_value(frame, module, attribute, len(node.relative), name)
        if isinstance(value, LibraryName):
            report_accelerator_name(frame, value.name, alias)
        forget_default_device(frame, value)
        frame.bind(name, value)


@executes(cst.FunctionDef)
def function(frame: Frame, node: cst.FunctionDef) -> None:
    """Execute `def`: bind the name to the function, with the current frame as its closure."""
    frame.bind(node.name.value, ProgramDefinition(closure(frame, node, node.name.value)))


@executes(cst.ClassDef)
def class_(frame: Frame, node: cst.ClassDef) -> None:
    """Execute `class`: bind the name to the class; its body is run when a member is first looked up."""
    frame.bind(node.name.value, ProgramDefinition(class_of_definition(frame, node)))


@executes(cst.If)
def if_(frame: Frame, node: cst.If) -> None:
    """Execute `if`: run only the branch that the path selects, if it decides the test.

    Otherwise both branches are run, each with the values narrowed by the test, and their states are joined.
    """
    known = truth(frame, node.test)

    def follow(holds: bool) -> Callable[[], None]:
        def path() -> None:
            narrow(frame, node.test, holds)
            if holds:
                frame.execute(node.body)
            elif node.orelse is not None:
                frame.execute(node.orelse)

        return path

    if known is not None:
        follow(known)()
        return
    yes, no = frame.branch(follow(True), follow(False))
    frame.state = join_states(yes, no)


@executes(cst.Else, cst.Finally)
def else_(frame: Frame, node: cst.Else | cst.Finally) -> None:
    """Execute the statements of an `else` or `finally` clause."""
    frame.execute(node.body)


@executes(cst.Match)
def match_(frame: Frame, node: cst.Match) -> None:
    """Execute `match`: try the cases in turn, each on the path where the earlier cases did not match.

    After a case that surely matches, no further case is tried.
    """
    subject = Argument(frame.evaluate(node.subject), node.subject)
    ends: list[State] = []
    for case in node.cases:
        before, frame.state = frame.state, frame.state.fork()
        answer = match_pattern(frame, case.pattern, subject)
        if isinstance(answer, Literal):
            frame.state.assume(answer)
        elif not answer:
            frame.state.live = False
        if case.guard is not None and frame.state.live:
            answer = conjunction_of_answers([answer, condition_of(frame, case.guard) or False])
            narrow(frame, case.guard, True)
        frame.execute(case.body)
        ends.append(frame.state)
        frame.state = before
        if isinstance(answer, Literal):
            frame.state.assume(~answer)
        elif answer:
            frame.state.live = False
        if not frame.state.live:
            break
    # Join from the last case to the first: each case then differs from the join of its successors by one condition.
    frame.state = join_all_states([frame.state, *reversed(ends)])
