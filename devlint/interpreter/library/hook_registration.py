"""Models of methods that register forward hooks on a module, and of the handles that remove the hooks."""

from __future__ import annotations

from devlint.domain.objects import Instance
from devlint.domain.value import NONE, UNKNOWN, Const, Partial, ProgramDefinition, Ref, Value
from devlint.interpreter.calls.forward_hooks import FORWARD_HOOK, PRE_HOOK, add_hook, remove_hook
from devlint.interpreter.objects.unfollowed_hooks import keep_hook
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

HANDLE = "torch.utils.hooks.RemovableHandle"
"""The class of the handles that registering a hook returns."""


@models_call(f"Module.{PRE_HOOK}", f"Module.{FORWARD_HOOK}")
def register_hook(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.register_forward_hook(f)`: add the hook and return a handle that can remove the hook.

    A hook that is not a known callable is assumed to change nothing. One whose registration has keyword options gets
    other arguments, or runs in another order: it is not followed.
    """
    if call.first is None or not isinstance(call.receiver, Ref):
        keep_hook(frame, call.arguments)
        return UNKNOWN
    hook = call.first.value
    if call.arguments.keywords:
        keep_hook(frame, call.arguments)
    elif isinstance(hook, (ProgramDefinition, Partial, Ref)):
        add_hook(frame, call.receiver, call.name, hook)
    held: dict[str, Value] = {"module": call.receiver, "kind": Const(call.name), "hook": hook}
    return frame.allocate(call.node, Instance(HANDLE, held))


@models_call(
    "Module.register_full_backward_hook",
    "Module.register_full_backward_pre_hook",
    "Module.register_backward_hook",
    "Tensor.register_hook",
    "Tensor.register_post_accumulate_grad_hook",
)
def register_backward_hook(frame: Frame, call: LibraryCall) -> Value:
    """Model `module.register_full_backward_hook(f)` and `tensor.register_hook(f)`: autograd calls the hook, unseen."""
    keep_hook(frame, call.arguments)
    return UNKNOWN


@models_call(f"{HANDLE}.remove")
def remove_handle(frame: Frame, call: LibraryCall) -> Value:
    """Model `handle.remove()`: remove the hook from its module."""
    thing = frame.instance(call.receiver)
    if thing is not None and isinstance(kind := thing.attributes.get("kind"), Const):
        module = thing.attributes["module"]
        if isinstance(module, Ref):
            remove_hook(frame, module, str(kind.value), thing.attributes["hook"])
    return NONE
