"""Calls: the dispatch on the kind of callee, from functions and classes to objects and library names."""

from __future__ import annotations

import libcst as cst

from devlint.domain.join import alternatives, is_number_or_tensor, without_none
from devlint.domain.objects import Instance
from devlint.domain.torch_names import TRANSFER_METHODS
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    BoundLibraryMethod,
    ConditionalValue,
    Const,
    LibraryName,
    OpaqueData,
    Partial,
    ProgramDefinition,
    Ref,
    Tensor,
    Unknown,
    Value,
    as_tensor,
)
from devlint.interpreter.calls.argument_evaluation import evaluate_arguments
from devlint.interpreter.calls.construction import construct
from devlint.interpreter.calls.forward_hooks import run_forward_hooks, run_pre_hooks
from devlint.interpreter.calls.placed_modules import call_parts_of_module
from devlint.interpreter.calls.unknown_callees import call_unknown, call_unknown_method, transfer_unnamed
from devlint.interpreter.conditions.alternatives import compute_per_alternative
from devlint.interpreter.modules.library_layers import call_library_module
from devlint.interpreter.objects.absent_attributes import surely_lacks
from devlint.interpreter.objects.class_hierarchy import enclosing_class, find_method
from devlint.interpreter.objects.evidence import calls_tensor
from devlint.interpreter.objects.havoc import havoc
from devlint.interpreter.objects.module_containers import whole_of_parts
from devlint.interpreter.objects.module_state import is_module
from devlint.interpreter.objects.unfollowed_hooks import run_unfollowed_hooks
from devlint.interpreter.objects.unseen_parts import as_unseen_part
from devlint.interpreter.operations.accelerator_names import (
    is_imported_as,
    report_accelerator_name,
    report_backend_in_call,
)
from devlint.interpreter.operations.repeated_transfers import report_repeated_transfer
from devlint.interpreter.operations.transfer_requests import read_transfer_request
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame, evaluates
from devlint.interpreter.state.rebinding import rebind


@evaluates(cst.Call)
def call(frame: Frame, node: cst.Call) -> Value:
    """Evaluate a call expression, `f(...)`."""
    if type(node.func) is cst.Name and node.func.value == "super":
        return _super_object(frame, node)
    if type(node.func) is cst.Attribute:
        owner = frame.evaluate(node.func.value)
        inner = without_none(owner)
        if inner == NONE and not hasattr(None, node.func.attr.value):
            inner = UNKNOWN  # Code that the analysis does not see has replaced the placeholder.
        elif type(inner) is BoundLibraryMethod:
            inner = as_unseen_part(frame, inner)
        elif is_number_or_tensor(inner):
            _exclude_numbers(frame, node.func, owner)
            owner = frame.evaluate(node.func.value)
        if isinstance(inner, Unknown) and inner.origin is not None:
            arguments = evaluate_arguments(frame, node)
            return call_unknown_method(frame, inner, node.func.attr.value, arguments, node, node.func.value)
        if isinstance(inner, Unknown):
            method = node.func.attr.value
            if method not in TRANSFER_METHODS and calls_tensor(frame, node, method, node.func.value):
                # Only tensors have this method, so the unknown owner is a tensor.
                return frame.invoke(LibraryCall(method, evaluate_arguments(frame, node), node, as_tensor(inner)))
            if method in TRANSFER_METHODS:
                arguments = evaluate_arguments(frame, node)
                if frame.loops:
                    request = read_transfer_request(frame, method, arguments, node)
                    report_repeated_transfer(frame, method, request, node, node.func.value)
                return transfer_unnamed(frame, method, arguments, node, node.func.value)
        if surely_lacks(frame, inner, node.func.attr.value):
            frame.fail()
            return UNKNOWN
        name = f"{owner.name}.{node.func.attr.value}" if type(owner) is LibraryName else None
        callee = frame.get_attribute(owner, node.func.attr.value, node.func)
    else:
        callee = frame.evaluate(node.func)
        is_imported = type(callee) is LibraryName and is_imported_as(frame, node.func, callee.name)
        name = callee.name if is_imported and isinstance(callee, LibraryName) else None
    arguments = evaluate_arguments(frame, node)
    if name is not None and name.startswith("torch."):
        report_accelerator_name(frame, name, node.func, arguments=arguments)
        report_backend_in_call(frame, name, arguments)
    return frame.call(callee, arguments, node)


def _exclude_numbers(frame: Frame, method: cst.Attribute, owner: Value) -> None:
    """Bind a name that holds a tensor or a number, which lacks the method that is called next, to the tensor."""
    tensors = [one for one in alternatives(owner) if isinstance(one, Tensor)]
    others = [one.value if isinstance(one, Const) else 0.0 for one in alternatives(owner) if one not in tensors]
    if (
        len(tensors) == 1
        and isinstance(method.value, cst.Name)
        and not any(hasattr(one, method.attr.value) for one in others)
    ):
        rebind(frame, method.value, owner, tensors[0])


def _super_object(frame: Frame, node: cst.Call) -> Value:
    """Return the object that `super()` or `super(cls, obj)` makes, modelled as a partial call of `builtins.super`."""
    if len(node.args) == 2:
        cls, receiver = frame.evaluate(node.args[0].value), frame.evaluate(node.args[1].value)
    else:
        info = enclosing_class(frame)
        function = _enclosing_method_frame(frame)
        receiver_name = (
            function.function.parameters[0].name
            if function and function.function and function.function.parameters
            else ""
        )
        cls = ProgramDefinition(info) if info is not None else UNKNOWN
        receiver = frame.lookup(receiver_name) or UNKNOWN
    return Partial(LibraryName("builtins.super"), (cls, receiver))


def _enclosing_method_frame(frame: Frame) -> Frame | None:
    """Return the frame of the innermost method around the code being run; None outside methods."""
    current: Frame | None = frame
    while current is not None and (current.function is None or current.function.owner is None):
        current = current.outer
    return current


def call_value(frame: Frame, callee: Value, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call any abstract value: a function, a class, an object, a library name, a partial or an unknown callee."""
    match without_none(callee):
        case ProgramDefinition(definition=FunctionInfo() as info, receiver=receiver):
            return frame.call_function(info, receiver, arguments)
        case ProgramDefinition(definition=ClassInfo() as info):
            return construct(frame, info, arguments, node)
        case LibraryName(name=name):
            return frame.invoke(LibraryCall(name, arguments, node))
        case BoundLibraryMethod(receiver=receiver, name=name) as method:
            part = as_unseen_part(frame, method)
            if isinstance(part, Unknown):
                return frame.call(part, arguments, node)
            return frame.invoke(LibraryCall(name, arguments, node, receiver))
        case Partial(target=target, args=args, keywords=keywords):
            held = [Argument(value, arguments.expression) for value in args]
            merged = Arguments(
                arguments.node,
                [*held, *arguments.positional],
                {**{key: Argument(value, arguments.expression) for key, value in keywords}, **arguments.keywords},
                arguments.complete,
                arguments.rest,
            )
            return frame.call(target, merged, node)
        case Ref() as reference:
            return call_object(frame, reference, arguments, node)
        case ConditionalValue() as several:
            return compute_per_alternative(frame, several, lambda one: frame.call(one, arguments, node))
        case (Unknown() | OpaqueData()) as unknown:
            return call_unknown(frame, unknown, arguments, node)
        case Tensor():
            frame.fail()  # No tensor can be called.
            return UNKNOWN
    havoc(frame, arguments)
    return UNKNOWN


def call_object(frame: Frame, reference: Ref, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call an object: a module with its forward hooks, an object with `__call__`, or a library's object."""
    thing = frame.instance(reference)
    if thing is None:
        return UNKNOWN
    module = is_module(frame, reference)
    if module:
        run_unfollowed_hooks(frame, arguments)
    if module and thing.hooks:
        arguments = run_pre_hooks(frame, reference, thing, arguments, node)
        result = _call_without_hooks(frame, reference, thing, arguments, node, module=module)
        return run_forward_hooks(frame, reference, thing, arguments, result, node)
    return _call_without_hooks(frame, reference, thing, arguments, node, module=module)


def _call_without_hooks(
    frame: Frame, reference: Ref, thing: Instance, arguments: Arguments, node: cst.CSTNode, *, module: bool
) -> Value:
    """Run the code behind an object's call, without forward hooks: `__call__`, a module's `forward` or a library model.

    A library model is a function that imitates a call of a library.
    """
    if isinstance(thing.cls, ProgramDefinition) and isinstance(thing.cls.definition, ClassInfo):
        info = thing.cls.definition
        method = find_method(frame, info, "__call__") or (find_method(frame, info, "forward") if module else None)
        if method is not None:
            receiver = None if "staticmethod" in method.decorator_names else reference
            return frame.call_function(method, receiver, arguments, is_module=module)
    if module:
        whole = whole_of_parts(thing)
        if whole is not None:
            return call_parts_of_module(frame, whole, arguments, node)
        if isinstance(thing.cls, str) and not thing.placement_tracked:
            return UNKNOWN
        found = frame.invoke(LibraryCall("__call__", arguments, node, reference))
        if found != UNKNOWN:
            return found
        layer = call_library_module(frame, reference, thing, arguments, node)
        if layer is not None:
            return layer
    elif isinstance(thing.cls, str):
        return frame.invoke(LibraryCall("__call__", arguments, node, reference))
    havoc(frame, arguments)
    return UNKNOWN
