"""Calls of functions and objects whose code devlint does not know, but whose placement the program may tell.

A module of unknown class that the program has moved, for example, returns its result on the module's device.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.diagnostic import AssumptionKind
from devlint.domain.device import (
    UNKNOWN_DEVICE,
    Device,
    DeviceSymbol,
    device_from_string,
    is_accelerator,
    is_host,
    is_meant_as_device,
)
from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import alternatives
from devlint.domain.objects import ANY_ITERATOR, Instance, ParameterCell, Sequence
from devlint.domain.placement import UNKNOWN_PLACEMENT, PlacementCase, StepKind, placement_cases
from devlint.domain.torch_names import CAST_METHODS, DEVICE_METHODS, SELF_RETURNING_MODULE_METHODS, TRANSFER_METHODS
from devlint.domain.value import (
    RESPELLING_METHODS,
    UNKNOWN,
    AllocationSite,
    Const,
    DeviceValue,
    Number,
    OpaqueData,
    Rank,
    Ref,
    Tensor,
    Unknown,
    Value,
    as_tensor,
    is_single_object,
    named_placement,
    respelled,
)
from devlint.interpreter.calls.placed_modules import FORWARD_METHODS, call_placed_module, method_of_call
from devlint.interpreter.conditions.length_comparisons import element_count
from devlint.interpreter.language.attributes import opaque_attribute
from devlint.interpreter.modules.library_methods import call_by_convention
from devlint.interpreter.objects.evidence import (
    calls_tensor,
    compared_tensor,
    has_method_of_its_own,
    has_module_members,
    is_moved_tensor,
    looks_like_module,
    looks_like_tensor,
)
from devlint.interpreter.objects.forward_inputs import as_forward_operand
from devlint.interpreter.objects.havoc import assume_synchronized, havoc, may_call_back
from devlint.interpreter.objects.library_objects import MOVED_UNSEEN
from devlint.interpreter.objects.module_containers import is_registered_part, module_of_part
from devlint.interpreter.objects.module_state import placement_of_module
from devlint.interpreter.objects.moved_modules import forget_held_modules
from devlint.interpreter.objects.unfollowed_hooks import REGISTERING_METHODS, keep_hook, run_unfollowed_hooks
from devlint.interpreter.objects.unknown_objects import result_of_unknown_code
from devlint.interpreter.objects.unseen_parts import (
    forget_inside,
    has_unseen_parts,
    is_tensor_of_part,
)
from devlint.interpreter.operations.module_transfers import transfer_held_modules, transfer_some_submodule
from devlint.interpreter.operations.tensor_transfers import transfer_tensor, transfer_unknown
from devlint.interpreter.operations.tensor_uses import is_input_of_module
from devlint.interpreter.operations.transfer_requests import read_transfer_request
from devlint.interpreter.program.usage_evidence import (
    ARRAY_LIKE,
    MODULE_MEMBERS,
    OF_OTHERS_TOO,
)
from devlint.interpreter.state.arguments import Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.rebinding import rebind
from devlint.interpreter.state.unknown_records import ANNOTATED_MODULE, unknown_object_site, unknown_object_state
from devlint.syntax.tree_walk import dotted_name


def call_unknown_method(
    frame: Frame, owner: Unknown, name: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Call a method of an unknown but named object, which may be a tensor, a module or any other object."""
    if name in RESPELLING_METHODS and arguments.is_empty:
        return respelled(owner, name)
    if name in TRANSFER_METHODS:
        if (module := module_of_part(owner)) is not None:
            if is_tensor_of_part(owner):
                return transfer_tensor(frame, Tensor(), name, arguments, node, receiver, supposed=True)
            transfer_some_submodule(frame, module, name, arguments, node)
            return owner
        return _transfer_unknown_owner(frame, owner, name, arguments, node, receiver)
    record = unknown_object_state(frame, owner)
    if record is not None and not record.placement_tracked and name in MODULE_MEMBERS:
        record = replace(record, placement_tracked=True)
        frame.put(unknown_object_site(owner), record)
    if name in SELF_RETURNING_MODULE_METHODS:
        may_call_back(frame, arguments)
        return owner
    if name in ("parameters", "buffers", "named_parameters"):
        placement = (
            record.cell.placement
            if record is not None and record.cell is not None
            else named_placement(owner.origin, owner.text)
        )
        return frame.allocate(node, Sequence(None, Tensor(placement, rank=Rank.SOME), ANY_ITERATOR))
    is_only_tensor = calls_tensor(frame, node, name, receiver)
    shared = name in OF_OTHERS_TOO
    if is_only_tensor or ((shared or name in ARRAY_LIKE) and looks_like_tensor(frame, receiver, array_like=not shared)):
        tensor = as_tensor(owner)
        assert tensor is not None
        return frame.invoke(LibraryCall(name, arguments, node, tensor))
    if name == "numel" and is_single_object(owner.origin):
        return element_count(owner.origin, f"{owner.text}.numel() > 0", frame.site_key(node))
    if name in ("size", "dim", "numel"):
        return Number()
    if name == "item":
        assume_synchronized(frame)
        return Number()
    if record is not None and record.cell is not None and record.placement_tracked and name in FORWARD_METHODS:
        run_unfollowed_hooks(frame, arguments)
        return call_placed_module(frame, record.cell.placement, owner.text or name, arguments, node)
    value = opaque_attribute(frame, owner, name)
    if not isinstance(value, Unknown):
        return frame.call(value, arguments, node)
    _register_or_run_hooks(frame, arguments, node)
    havoc(frame, arguments)
    assume_synchronized(frame)
    return call_by_convention(frame, arguments) or result_of_unknown_code(frame, arguments)


def _transfer_unknown_owner(
    frame: Frame, owner: Unknown, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Apply a transfer method (`.to`, `.cuda`) to an object of unknown type.

    If the program uses the object as a module, it is moved in place; if as a tensor, a moved copy is returned.
    """
    record = unknown_object_state(frame, owner)
    if looks_like_module(frame, receiver) or (record is not None and record.cls == ANNOTATED_MODULE):
        _move_in_place(frame, owner, method, arguments, node, is_module=True)
        return owner
    tensor = as_tensor(owner)
    is_tensor = looks_like_tensor(frame, receiver) or is_moved_tensor(frame, receiver)
    is_tensor = is_tensor and not has_method_of_its_own(frame, receiver, method)
    if frame.discarded_expression is node and not is_tensor and compared_tensor(frame, receiver) is not None:
        return transfer_tensor(frame, _supposed_tensor(frame, receiver), method, arguments, node, receiver)
    if tensor is not None and (is_tensor or _is_part_of_batch(frame, owner, method, node, receiver)):
        return transfer_tensor(frame, tensor, method, arguments, node, receiver, supposed=True)
    written = arguments.constant("device", 0, None)
    if isinstance(written, str) and not is_meant_as_device(written):
        havoc(frame, arguments)
        return result_of_unknown_code(frame, arguments)
    if frame.discarded_expression is node:
        _move_in_place(frame, owner, method, arguments, node, is_module=False)
    return transfer_unknown(frame, owner, method, arguments, node, receiver)


def _supposed_tensor(frame: Frame, node: cst.BaseExpression) -> Tensor:
    """Return the tensor that a value is taken for which the program compares with another one in a loss."""
    text = dotted_name(node)
    # What runs at the top of a file is several statements, and a place must be in the one that is running.
    passed = compared_tensor(frame, node) if frame.function is not None else None
    step = frame.assuming_step(
        StepKind.ASSUMED, "is passed to a loss", passed or node, AssumptionKind.TENSOR, f"`{text}` is a tensor"
    )
    return Tensor(PlacementCase(provenance=step))


def _is_part_of_batch(
    frame: Frame, owner: Unknown, method: str, node: cst.CSTNode, receiver: cst.BaseExpression
) -> bool:
    """Return whether a part of an element of an iterable is a tensor, because of its transfer.

    Programs iterate over batches, and keep the modules that they iterate over one by one: they keep the result of a
    cast. A part whose moved copy they throw away is a tensor if it then is the input of a module.
    """
    match owner.origin:
        case ("item", ("element", _), int() | Const()):
            if frame.discarded_expression is not node:
                return method in CAST_METHODS
            return isinstance(receiver, cst.Name) and is_input_of_module(frame, receiver)
    return False


def _move_in_place(
    frame: Frame, owner: Unknown, method: str, arguments: Arguments, node: cst.CSTNode, *, is_module: bool
) -> None:
    """Record a move or cast of an object of unknown class that changes in place if it is a module.

    `is_module` is whether the code shows that it is one; where it does not, its later uses may.
    """
    request = read_transfer_request(frame, method, arguments, node)
    record = unknown_object_state(frame, owner)
    before = record.cell if record is not None and record.cell is not None else None
    placement = request.placement or (
        before.placement if before is not None else named_placement(owner.origin, owner.text)
    )
    cell = ParameterCell(placement, request.dtype or (before.dtype if before is not None else UNKNOWN_DTYPE))
    # Paths that do not move the object refer to the same unknown object.
    unmoved = record or frame.analysis.base_heap.get_or_put(unknown_object_site(owner), Instance("?", {}))
    assert isinstance(unmoved, Instance)
    tracked = is_module or (record is not None and record.cell is not None and record.placement_tracked)
    frame.put(unknown_object_site(owner), replace(unmoved, cell=cell, placement_tracked=tracked))
    transfer_held_modules(frame, request, unmoved.attributes.values())


def transfer_unnamed(
    frame: Frame, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Apply a transfer method to the result of code that devlint does not know, which is a tensor, a module or other.

    A transfer as a statement gives the object a name, under which its move is recorded in case that it is a module.
    """
    if not _asks_for_device(method, arguments):
        return UNKNOWN
    if frame.discarded_expression is node:
        _forget_module_of_result(frame, receiver)
    if is_moved_tensor(frame, receiver):
        return transfer_tensor(frame, Tensor(), method, arguments, node, receiver, supposed=True)
    if frame.discarded_expression is node and compared_tensor(frame, receiver) is not None:
        return transfer_tensor(frame, _supposed_tensor(frame, receiver), method, arguments, node, receiver)
    if frame.discarded_expression is not node:
        moved = transfer_unknown(frame, UNKNOWN, method, arguments, node, receiver)
        # It may be a module with numbers and settings among its attributes, or a pipeline.
        return replace(moved, mixed=True, may_move_inputs=True) if isinstance(moved, OpaqueData) else moved
    name = dotted_name(receiver)
    if name is not None:
        owner = Unknown((MOVED_UNSEEN, node, frame.context), name)
        rebind(frame, receiver, UNKNOWN, owner)
        _move_in_place(frame, owner, method, arguments, node, is_module=has_module_members(frame, receiver))
        return owner
    return UNKNOWN


def _forget_module_of_result(frame: Frame, receiver: cst.BaseExpression) -> None:
    """Forget where the parts of a library's module lie where what a method of it has returned is moved in place."""
    match receiver:
        case cst.Call(func=cst.Attribute(value=owner)) if dotted_name(owner) is not None:
            module = frame.evaluate(owner)
            if isinstance(module, Ref) and has_unseen_parts(frame, module):
                forget_inside(frame, module)


def _asks_for_device(method: str, arguments: Arguments) -> bool:
    """Return whether a call of a transfer method surely names a device, not a unit or a format."""
    if method in DEVICE_METHODS:
        return True
    device = arguments.value("device", 0) if method == "to" else None
    return device is not None and all(_is_device(one) for one in alternatives(device))


def _is_device(value: Value) -> bool:
    """Return whether a value is a device, a string that names one, or a named value that the program may choose."""
    match value:
        case DeviceValue():
            return True
        case Const(value=str(text)):
            return is_accelerator(device_from_string(text)) or is_host(device_from_string(text))
        case Unknown(origin=origin):
            return origin is not None
    return False


def call_unknown(frame: Frame, callee: Unknown | OpaqueData, arguments: Arguments, node: cst.CSTNode) -> Value:
    """Call an object that devlint does not know: as a module if the program has placed it on a device.

    Otherwise the result is unknown, and the call may have any effect on its arguments.
    """
    _register_or_run_hooks(frame, arguments, node)
    if isinstance(callee, OpaqueData):
        if _is_method_of_opaque_data(frame, node):
            havoc(frame, arguments)
            assume_synchronized(frame)
            # A method of a module may return anything; one of a batch, or of an output, a part of it or a number.
            is_data = callee.of_loader or callee.of_call
            return OpaqueData(callee.placement, mixed=True) if is_data else UNKNOWN
        if callee.of_loader and isinstance(node, cst.Call) and isinstance(node.func, cst.Name | cst.Subscript):
            frame.fail()  # No part of a batch can be called.
            return UNKNOWN
        if callee.may_move_inputs and not _is_called_as_module(frame, node):
            havoc(frame, arguments)
            assume_synchronized(frame)
            return UNKNOWN
        return call_placed_module(frame, callee.placement, "the module", arguments, node)
    match callee.origin:
        case ("attr", owner, str(name)) if name in RESPELLING_METHODS and arguments.is_empty:
            return respelled(Unknown(owner, callee.text.removesuffix(f".{name}"), callee.provenance), name)
    _forget_receiver(frame, callee)
    record = unknown_object_state(frame, callee) if callee.origin is not None else None
    if (
        record is not None
        and record.cell is not None
        and (record.placement_tracked or _is_called_as_module(frame, node))
    ):
        return call_placed_module(frame, record.cell.placement, callee.text or "the module", arguments, node)
    own = _placement_by_its_data(frame, callee) if _is_called_as_module(frame, node) else None
    if own is not None:
        return call_placed_module(frame, own, callee.text, arguments, node)
    havoc(frame, arguments)
    assume_synchronized(frame)
    return (
        call_by_convention(frame, arguments)
        or _call_part(frame, callee, arguments, node)
        or _call_submodule(frame, callee, arguments, node)
        or _call_unplaced_module(frame, arguments, node)
        or result_of_unknown_code(frame, arguments, callee)
    )


def _register_or_run_hooks(frame: Frame, arguments: Arguments, node: cst.CSTNode) -> None:
    """Keep the hook that a call of unknown code registers; any other call may run the hooks that are kept."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in REGISTERING_METHODS:
            keep_hook(frame, arguments)
        case _:
            run_unfollowed_hooks(frame, arguments)


def _placement_by_its_data(frame: Frame, callee: Unknown) -> PlacementCase | None:
    """Return where a caller's module is if a variable holds data that the code has moved to the module's device.

    `y.to(next(net.parameters()).device)` says that `net` may be anywhere. None without such data.
    """
    for value in frame.state.names.values():
        tensor = as_tensor(value) if isinstance(value, (Tensor, OpaqueData)) else None
        cases = placement_cases(frame.resolve(tensor).placement) if tensor is not None else ()
        for _, case in cases:
            step = case.placing_step
            is_moved = step is not None and step.kind is StepKind.MOVED and step.scope is frame.scope
            if step is not None and is_moved and _is_device_of(case.device, callee):
                told = replace(step, message=f"is moved to the device of `{callee.text}`", previous=None, source=None)
                return replace(case, provenance=told)
    return None


def _is_device_of(device: Device, callee: Unknown) -> bool:
    """Return whether a device is that of an unknown object."""
    return callee.origin is not None and isinstance(device, DeviceSymbol) and device.origin == callee.origin


def _forget_receiver(frame: Frame, callee: Unknown) -> None:
    """Forget where the modules are that an object holds, if an unknown method of it is called.

    Its class has a base that devlint does not know: the base may be a module, which the method moves.
    """
    match callee.origin:
        case ("attr", AllocationSite() as address, str()):
            forget_held_modules(frame, Ref(address))


def _call_unplaced_module(frame: Frame, arguments: Arguments, node: cst.CSTNode) -> Value | None:
    """Return the result of calling what the code uses as a module, but moves nowhere: it is where the inputs are.

    Its forward may bring inputs on the host to the module's device, so they tell nothing. The result may hold numbers
    beside tensors. None for any other call.
    """
    if not _is_called_as_module(frame, node) or method_of_call(node) not in (None, "forward"):
        return None
    given = [as_tensor(one.value) for one in arguments if isinstance(one.value, (Tensor, OpaqueData))]
    placements = {frame.resolve(one).placement for one in given if one is not None}
    placement = placements.pop() if len(placements) == 1 else UNKNOWN_PLACEMENT
    if all(is_host(leaf.device) or leaf.device == UNKNOWN_DEVICE for _, leaf in placement_cases(placement)):
        return None
    return OpaqueData(placement, mixed=True, of_call=True)


def _is_called_as_module(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether a call node calls an object that the code around the call uses as an `nn.Module`.

    Other callable objects that the program moves, such as pipelines, may move their inputs themselves.
    """
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if name in FORWARD_METHODS:
            return has_module_members(frame, owner)
        case cst.Call(func=function):
            return has_module_members(frame, function)
    return False


def _is_method_of_opaque_data(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether a call node calls a method of data of unknown structure, such as a checkpoint.

    A method that runs a module (`forward`) is excluded. Any other may move its arguments itself, or accept them on any
    device (`load_state_dict`).
    """
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))) if name not in FORWARD_METHODS:
            return dotted_name(owner) is not None and isinstance(frame.evaluate(owner), OpaqueData)
    return False


def _call_part(frame: Frame, callee: Unknown, arguments: Arguments, node: cst.CSTNode) -> Value | None:
    """Return the result of calling a part of a library's module with a tensor (`self.resnet.layer1(x)`).

    In a method of a module of the program, this is a submodule or a method that runs some: it is where the whole is.
    A part that the program has taken out of the whole may have been moved on its own. None for any other call.
    """
    whole, given = module_of_part(callee), arguments.positional
    if whole is None or not given or not frame.scope.method_of_module or not _names_whole(frame, node, whole):
        return None
    if not isinstance(as_forward_operand(frame, given[0].value, Tensor()), (Tensor, OpaqueData)):
        return None
    return call_placed_module(frame, placement_of_module(frame, whole), callee.text or "the module", arguments, node)


def _names_whole(frame: Frame, node: cst.CSTNode, whole: Ref) -> bool:
    """Return whether a call names the part that it calls as one of a module: `self.resnet.layers[0]`."""
    named = node.func if isinstance(node, cst.Call) else None
    while isinstance(named, (cst.Attribute, cst.Subscript)):
        named = named.value
        if dotted_name(named) is not None and frame.evaluate(named) == whole:
            return True
    return False


def _call_submodule(frame: Frame, callee: Unknown, arguments: Arguments, node: cst.CSTNode) -> Value | None:
    """Return the result of calling a module that an nn.Module got from its constructor's caller (`self.encoder(x)`).

    It may be in a container of modules. The submodule is assumed to move with its module, so its result is on the
    device of the module's inputs. The result is None for any other call.
    """
    if not is_registered_part(callee) and not _is_own_attribute(frame, node):
        return None
    for argument in arguments.positional:
        tensor = as_forward_operand(frame, argument.value, Tensor())
        if not isinstance(tensor, Tensor):
            continue
        placement = frame.resolve(tensor).placement
        if isinstance(placement, PlacementCase) and isinstance(placement.device, DeviceSymbol):
            return OpaqueData(placement, of_call=True)
    return None


def _is_own_attribute(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether a call node in a method of a module calls an attribute of the module: `self.encoder(x)`."""
    function = frame.function
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name(value=receiver))) if frame.scope.method_of_module:
            return function is not None and bool(function.parameters) and function.parameters[0].name == receiver
    return False
