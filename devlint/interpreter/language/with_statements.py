"""The handler of `with`: the torch settings that contexts change for the block, and the exit code of the contexts."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.interpreter.language.context_managers import enter_context, exit_context
from devlint.interpreter.language.exceptions import EarlyExits, execute_failing
from devlint.interpreter.objects.class_hierarchy import find_special_method
from devlint.interpreter.program.failure_assertions import ASSERTING_FAILURE, asserts_failure
from devlint.interpreter.state.abstract_state import join_states
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.frame import Frame, executes
from devlint.syntax.tree_walk import descend, dotted_name

EXCEPTION_SUPPRESSING: Final = ASSERTING_FAILURE | {"suppress"}
"""The last names of contexts that suppress exceptions: the code after the block is also reached from inside it."""


@executes(cst.With)
def with_(frame: Frame, node: cst.With) -> None:
    """Execute `with`: enter the contexts, run the block under the torch settings they change, and exit the contexts.

    If a context may suppress exceptions, the code after the block may follow each of the block's statements.
    """
    changes: dict[str, object] = {}
    entered: list[Argument] = []
    for item in node.items:
        value = frame.evaluate(item.item)
        bound, change = enter_context(frame, value, item.item)
        changes.update(change)
        entered.append(Argument(value, item.item))
        if item.asname is not None:
            frame.assign(item.asname.name, bound)
    before = frame.set_torch_state(changes)
    early_exits = EarlyExits(frame)
    if any(_may_suppress(frame, one) for one in entered):
        with frame.failure_wanted(any(asserts_failure(item.item) for item in node.items)):
            failed = execute_failing(frame, node.body)
        frame.state = join_states(failed, frame.state)
    else:
        frame.execute(node.body)

    def run_exits() -> None:
        frame.set_torch_state(before)
        for one in reversed(entered):
            exit_context(frame, one.value, one.node)

    early_exits.finish(run_exits)
    run_exits()


def _may_suppress(frame: Frame, context: Argument) -> bool:
    """Return whether a context manager may suppress an exception that is raised in its `with` block.

    A class of the program may do so if its `__exit__` returns a value other than None and False.
    """
    function = find_special_method(frame, context.value, "__exit__")
    if function is None:
        called = context.node.func if isinstance(context.node, cst.Call) else context.node
        return (dotted_name(called) or "").rpartition(".")[2] in EXCEPTION_SUPPRESSING
    return any(
        isinstance(one, cst.Return) and one.value is not None and dotted_name(one.value) not in ("None", "False")
        for one in descend(function.node.body, into_functions=False)
    )
