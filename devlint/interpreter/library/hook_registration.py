"""Models of methods that register forward hooks on a module, and of the handles that remove the hooks."""

from __future__ import annotations

from devlint.domain.objects import Instance
from devlint.domain.value import NONE, UNKNOWN, Const, Partial, ProgramDefinition, Ref, Value
from devlint.interpreter.calls.forward_hooks import FORWARD_HOOK, PRE_HOOK, add_hook, remove_hook
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

HANDLE = "torch.utils.hooks.RemovableHandle"
"""The class of the handles that registering a hook returns."""


@models_call(f"Module.{PRE_HOOK}", f"Module.{FORWARD_HOOK}")
def register_hook(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.register_forward_hook(f)`: add the hook and return a handle that can remove the hook.

    A hook that is not a known callable, or whose registration has keyword options, is assumed to change nothing.
    """
    if call.first is None or not isinstance(call.receiver, Ref):
        return UNKNOWN
    hook = call.first.value
    if isinstance(hook, (ProgramDefinition, Partial, Ref)) and not call.arguments.keywords:
        add_hook(frame, call.receiver, call.name, hook)
    held: dict[str, Value] = {"module": call.receiver, "kind": Const(call.name), "hook": hook}
    return frame.allocate(call.node, Instance(HANDLE, held))


@models_call(f"{HANDLE}.remove")
def remove_handle(frame: Frame, call: LibraryCall) -> Value:
    """Model `handle.remove()`: remove the hook from its module."""
    thing = frame.instance(call.receiver)
    if thing is not None and isinstance(kind := thing.attributes.get("kind"), Const):
        module = thing.attributes["module"]
        if isinstance(module, Ref):
            remove_hook(frame, module, str(kind.value), thing.attributes["hook"])
    return NONE
