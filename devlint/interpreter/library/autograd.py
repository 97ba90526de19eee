"""Models of `torch.autograd`: custom functions, gradients and checkpointed calls."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.objects import Sequence
from devlint.domain.value import UNKNOWN, ProgramDefinition, Tensor, Tuple, Value, as_tensor, computed_tensor
from devlint.interpreter.objects.class_hierarchy import find_method, is_autograd_function_class
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("class.apply")
def apply_function(frame: Frame, call: LibraryCall) -> Value:
    """Model `Operation.apply(...)` of a custom `autograd.Function`: call its `forward` with an unknown context.

    Autograd does not record inside of `forward`. Whether it follows the result depends on the inputs and the context.
    """
    match call.receiver:
        case ProgramDefinition(definition=ClassInfo() as info) if is_autograd_function_class(frame, info):
            forward = find_method(frame, info, "forward")
            if forward is not None:
                given = [Argument(UNKNOWN, call.receiver_node), *call.arguments.positional]
                settings = frame.set_torch_state({"grad": False})
                result = frame.call_function(forward, None, replace(call.arguments, positional=given))
                frame.set_torch_state(settings)
                return _followed_result(frame, result) if frame.state.torch_state.grad else result
    return UNKNOWN


def _followed_result(frame: Frame, value: Value) -> Value:
    """Return what a custom operation has returned, of which nobody knows whether autograd follows it."""
    match value:
        case Tensor(cell=None):
            return replace(frame.resolve(value), grad=None, leaf=None)
        case Tuple(items=items):
            return replace(value, items=tuple(_followed_result(frame, one) for one in items))
    return value


@models_call("torch.autograd.grad")
def grad(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.autograd.grad(outputs, inputs)`: one gradient for each input, placed where the input is."""
    inputs = call.arguments.get("inputs", 1)
    if inputs is None:
        return UNKNOWN
    if isinstance(inputs.value, Tensor):
        return Tuple((_gradient(frame, inputs.value),))
    found = frame.iterate(inputs.value, inputs.node)
    if found.items is not None:
        return Tuple(tuple(_gradient(frame, one) for one in found.items))
    return frame.allocate(call.node, Sequence(None, _gradient(frame, found.element), "tuple"))


def _gradient(frame: Frame, value: Value) -> Value:
    """Return the gradient of a tensor: a tensor of the same placement and dtype; unknown for any other value."""
    tensor = as_tensor(value)
    return replace(computed_tensor(frame.resolve(tensor)), grad=None) if tensor is not None else UNKNOWN


@models_call("torch.utils.checkpoint.checkpoint")
def checkpoint(frame: Frame, call: LibraryCall) -> Value:
    """Model `checkpoint(function, *inputs)`: the function's result, which the backward pass computes once more."""
    if not call.arguments.positional:
        return UNKNOWN
    function, *inputs = call.arguments.positional
    keywords = {name: one for name, one in call.arguments.keywords.items() if name not in CHECKPOINT_OPTIONS}
    return frame.call(function.value, Arguments(call.node, inputs, keywords), call.node)


CHECKPOINT_OPTIONS = frozenset(
    {"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"}
)
"""The keyword arguments that `checkpoint` does not pass on to the function."""
