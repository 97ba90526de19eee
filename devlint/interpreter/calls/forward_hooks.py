"""Forward hooks: functions of the program that a module calls before and after its `forward`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Instance
from devlint.domain.value import NONE, UNKNOWN, ConditionalValue, Ref, Tuple, Value
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame

PRE_HOOK = "register_forward_pre_hook"
"""The method that registers a hook to run before `forward`."""
FORWARD_HOOK = "register_forward_hook"
"""The method that registers a hook to run after `forward`."""


MOST_HOOKS: Final = 16
"""The hooks of one module that are followed; more stand for unknown code."""


def add_hook(frame: Frame, module: Ref, kind: str, hook: Value) -> None:
    """Register a forward hook of a kind (BEFORE or AFTER `forward`) on a module.

    A hook that is registered again, as in each pass of a loop, is kept once.
    """
    thing = frame.instance(module)
    if thing is not None and len(thing.hooks) >= MOST_HOOKS:
        hook = UNKNOWN
    if thing is not None and (kind, hook) not in thing.hooks:
        frame.put(module.address, replace(thing, hooks=(*thing.hooks, (kind, hook))))


def remove_hook(frame: Frame, module: Ref, kind: str, hook: Value) -> None:
    """Remove a forward hook of a kind (BEFORE or AFTER `forward`) from a module."""
    thing = frame.instance(module)
    if thing is not None:
        frame.put(module.address, replace(thing, hooks=tuple(one for one in thing.hooks if one != (kind, hook))))


def run_pre_hooks(frame: Frame, module: Ref, thing: Instance, arguments: Arguments, node: cst.CSTNode) -> Arguments:
    """Run a module's hooks before `forward`; return the arguments, which the hooks may have replaced."""
    for kind, hook in thing.hooks:
        if kind != PRE_HOOK:
            continue
        given = Tuple(tuple(one.value for one in arguments.positional))
        place = arguments.expression
        changed = frame.call(hook, Arguments(node, [Argument(module, place), Argument(given, place)]), node)
        if changed == NONE:
            continue
        if changed == UNKNOWN or isinstance(changed, ConditionalValue):
            return Arguments(node, complete=False)
        values = changed.items if isinstance(changed, Tuple) else (changed,)
        nodes = [one.node for one in arguments.positional]
        nodes += [place] * (len(values) - len(nodes))
        positional = [Argument(value, one) for value, one in zip(values, nodes, strict=False)]
        arguments = replace(arguments, positional=positional)
    return arguments


def run_forward_hooks(
    frame: Frame, module: Ref, thing: Instance, arguments: Arguments, result: Value, node: cst.CSTNode
) -> Value:
    """Run a module's hooks after `forward`; return the module's result, which the hooks may have replaced."""
    for kind, hook in thing.hooks:
        if kind == FORWARD_HOOK:
            given: list[Value] = [module, Tuple(tuple(one.value for one in arguments.positional)), result]
            place = arguments.expression
            changed = frame.call(hook, Arguments(node, [Argument(one, place) for one in given]), node)
            result = _result_after_hook(changed, result)
    return result


def _result_after_hook(changed: Value, result: Value) -> Value:
    """Return the module's result after a forward hook: the hook's return value, where that is not None.

    On paths where the hook returns None, the result is unchanged.
    """
    if isinstance(changed, ConditionalValue):
        return join(_result_after_hook(changed.yes, result), _result_after_hook(changed.no, result), changed.test)
    return result if changed == NONE else changed
