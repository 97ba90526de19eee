"""Hooks whose calls are not followed: devlint does not see when autograd or a module of unknown code calls them.

From its registration on, such a hook may run whenever a module or a backward pass runs. What it binds or stores may
then be what it was before, or what the hook has put there.
"""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Dict
from devlint.domain.value import AllocationSite, Partial, ProgramDefinition, Ref, Value
from devlint.interpreter.objects.class_hierarchy import defined_class, find_method
from devlint.interpreter.objects.havoc import run_perhaps
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame

REGISTERING_METHODS: Final = frozenset(
    "register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook"
    " register_backward_hook register_hook register_post_accumulate_grad_hook".split()
)
"""The methods of modules and tensors that register a hook."""
MOST_HOOKS: Final = 16
"""The hooks that are kept; what more of them do is not seen."""
_SITE: Final = AllocationSite(("unfollowed hooks",))
"""Where the abstract heap keeps the hooks: a dict from each of them to the node that passes it."""


def keep_hook(frame: Frame, arguments: Arguments) -> None:
    """Record that a hook has been registered, the first of some arguments, whose calls are not followed.

    A hook that is no function of the program, nor an object with a `__call__` of the program, changes nothing seen.
    """
    given = arguments.get("hook", 0)
    hook = _as_function(frame, given.value) if given is not None else None
    kept = _kept_hooks(frame)
    if hook is None or hook in kept or len(kept) >= MOST_HOOKS:
        return
    frame.put(_SITE, Dict({**kept, hook: hook}))
    # What a call that was remembered before has done, it may do otherwise with the hook.
    frame.analysis.call_summaries.invalidate_captured_names()


def run_unfollowed_hooks(frame: Frame, arguments: Arguments) -> None:
    """Apply what the hooks change whose calls are not followed, if a call with some arguments calls them.

    While one of them runs, none does.
    """
    kept = _kept_hooks(frame)
    if not kept or any(_definition(hook) in frame.analysis.active_functions for hook in kept.values()):
        return
    for hook in kept.values():
        run_perhaps(frame, Argument(hook, arguments.expression))


def _kept_hooks(frame: Frame) -> dict[object, Value]:
    """Return the hooks that the program has registered so far, each under itself."""
    match frame.get(_SITE):
        case Dict(entries=entries):
            return dict(entries)
    return {}


def _as_function(frame: Frame, hook: Value) -> Value | None:
    """Return the function of the program that calling a hook runs, with what it is bound to; None for any other."""
    match hook:
        case ProgramDefinition(definition=FunctionInfo()):
            return hook
        case Partial(target=target) if _as_function(frame, target) is not None:
            return hook
        case Ref():
            thing = frame.instance(hook)
            info = defined_class(thing.cls) if thing is not None else None
            method = find_method(frame, info, "__call__") if info is not None else None
            return ProgramDefinition(method, hook) if method is not None else None
    return None


def _definition(hook: Value) -> object:
    """Return the definition of the function that a hook runs."""
    while isinstance(hook, Partial):
        hook = hook.target
    return hook.definition if isinstance(hook, ProgramDefinition) else None
