"""Models of tensor methods and factories whose meaning depends on more than their operands' placements."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.device import HOST, DeviceSymbol, is_accelerator, is_host
from devlint.domain.dtype import equals_surely, is_floating, python_type_of
from devlint.domain.objects import ParameterCell, Sequence
from devlint.domain.path_conditions import Literal, entails
from devlint.domain.placement import ConditionalPlacement, Placement, StepKind, placement_cases
from devlint.domain.placement_lattice import join_placements
from devlint.domain.record import replace
from devlint.domain.storage import Storage
from devlint.domain.torch_names import CAST_METHODS, TRANSFER_METHODS
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    ConditionalValue,
    Const,
    FactoryOrigin,
    HostCopy,
    Number,
    OpaqueData,
    OriginKind,
    Rank,
    Ref,
    Size,
    Tensor,
    Tuple,
    TypeName,
    Unknown,
    Value,
    as_tensor,
    computed_tensor,
)
from devlint.interpreter.conditions.condition_texts import SourceText
from devlint.interpreter.conditions.length_comparisons import element_count
from devlint.interpreter.library.table_calls import call_by_table
from devlint.interpreter.objects.evidence import has_method_of_its_own, has_other_attributes, looks_like_module
from devlint.interpreter.objects.parameters import set_requires_grad
from devlint.interpreter.objects.unfollowed_hooks import run_unfollowed_hooks
from devlint.interpreter.operations.aliasing import alias_storage, report_shared_write, storage_of
from devlint.interpreter.operations.copies_in_flight import new_pinned_storage, record_copy_in_flight
from devlint.interpreter.operations.device_arguments import (
    NO_DEVICE_INDEX,
    is_absent_or_none,
    is_behind_device_check,
    requested_placement,
)
from devlint.interpreter.operations.device_conflicts import find_device_conflict
from devlint.interpreter.operations.dtype_arguments import is_dtype_argument, requested_dtype
from devlint.interpreter.operations.empty_tensors import size_of
from devlint.interpreter.operations.numpy_reads import report_numpy_read
from devlint.interpreter.operations.operands import as_operand
from devlint.interpreter.operations.pinned_memory import placement_of_pinned, report_pinned_accelerator
from devlint.interpreter.operations.synchronization import pending_copy, report_read_by_copy
from devlint.interpreter.operations.tensor_ranks import rank_of_shape
from devlint.interpreter.operations.tensor_transfers import transfer_tensor
from devlint.interpreter.operations.tensor_uses import differentiated_name
from devlint.interpreter.operations.transfer_requests import read_transfer_request
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.changed_tensors import change_tensor, written_tensor
from devlint.interpreter.state.device_facts import ACCELERATOR_INDEX, device_type_atom
from devlint.interpreter.state.events import DiscardedResult, LoadedWhereSaved, Operand
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call
from devlint.interpreter.state.rebinding import rebind, replace_value


def _is_made_here(frame: Frame, tensor: Tensor) -> bool:
    """Return whether the program itself has made a tensor: what it is does not rest on how it is used."""
    steps = (leaf.placing_step for _, leaf in placement_cases(frame.resolve(tensor).placement))
    return any(one is not None and one.kind is StepKind.CREATED for one in steps)


@models_call(*(f"Tensor.{name}" for name in TRANSFER_METHODS))
def transfer_receiver(frame: Frame, call: LibraryCall) -> Value:
    """Model `.to`, `.cuda`, `.cpu`, `.half` and the like on a tensor, or on data whose tensors share one device."""
    assert call.receiver is not None
    tensor = as_tensor(call.receiver)
    assert tensor is not None
    if call.name == "type" and call.arguments.complete and not list(call.arguments):
        resolved = frame.resolve(tensor)
        return TypeName(resolved.placement, resolved.dtype)
    if frame.discarded_expression is call.node and (
        _may_be_module(call.receiver) or looks_like_module(frame, call.receiver_node)
    ):
        # A module moves in place, so the unused result is no bug.
        return _moved_in_place(frame, call) if isinstance(call.receiver, OpaqueData) else call.receiver
    may_be_refused = isinstance(call.receiver, OpaqueData) and frame.expects("AttributeError", "Exception", "")
    # What the program itself makes a tensor may have been a list before, under the same name.
    has_others = not _is_made_here(frame, tensor) and has_other_attributes(frame, call.receiver_node)
    if frame.discarded_expression is call.node and (may_be_refused or has_others):
        # So do graphs and other objects with attributes that no tensor has, and what may be a dict, which has no such
        # method, as the handler of the error knows. Where the object's tensors are now is not known.
        rebind(frame, call.receiver_node, call.receiver, UNKNOWN)
        return UNKNOWN
    moved = transfer_tensor(frame, tensor, call.name, call.arguments, call.node, call.receiver_node)
    if isinstance(call.receiver, OpaqueData):
        batch = call.receiver
        if batch.of_loader and call.name in CAST_METHODS:
            # Of what loaders yield, only tensors have these methods.
            return moved
        may_move = batch.may_move_inputs
        return OpaqueData(
            moved.placement,
            moved=moved.moved or batch.moved,
            mixed=may_move,
            may_move_inputs=may_move,
            of_loader=batch.of_loader,
            origin=batch.origin if equals_surely(moved.dtype, tensor.dtype) else None,
        )
    return moved


def _moved_in_place(frame: Frame, call: LibraryCall) -> Value:
    """Return data of unknown structure after a transfer whose result is thrown away, under all its names.

    If the code around uses it as a module, it now is where the transfer asks for, else it may be there.
    """
    data = call.receiver
    assert isinstance(data, OpaqueData)
    request = read_transfer_request(frame, call.name, call.arguments, call.node)
    if request.placement is None:
        return data
    is_module = looks_like_module(frame, call.receiver_node)
    placement = request.placement if is_module else join_placements(data.placement, request.placement)
    moved = replace(data, placement=placement, parts=())
    rebind(frame, call.receiver_node, data, moved)
    return moved


def _may_be_module(value: Value | None) -> bool:
    """Return whether data of unknown structure may be a module: part of a checkpoint, or data moved as a whole."""
    return isinstance(value, OpaqueData) and ((value.mixed and not value.of_call) or value.moved is not None)


@models_call("Tensor.numpy", "Tensor.__array__")
def numpy(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.numpy()`: an array with the tensor's memory, on the host and outside autograd.

    A batch of a class that an annotation names has a method of its own, which may copy its tensors to the host.
    """
    if isinstance(call.receiver, OpaqueData) and has_method_of_its_own(frame, call.receiver_node, "numpy"):
        return UNKNOWN
    tensor = frame.resolve(_receiver_tensor(call))
    force = call.arguments.constant("force", 0, False) is True
    report_numpy_read(frame, tensor, ".numpy()", call.node, call.receiver_node, force=force, shared=True)
    before = next(
        (leaf.provenance for _, leaf in placement_cases(tensor.placement) if leaf.provenance is not None), None
    )
    step = frame.step(StepKind.CONVERTED, "converted to a NumPy array", call.node, before)
    memory = alias_storage(frame, storage_of(tensor), "`.numpy()`", call.node, surely=not force)
    return Array(tensor.dtype, FactoryOrigin(OriginKind.TENSOR, step), tensor.rank, memory, step)


@models_call("Tensor.detach", "Tensor.detach_")
def detach(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.detach()` and `detach_()`: a tensor with the same memory, outside autograd."""
    tensor = _receiver_tensor(call)
    resolved = frame.resolve(tensor)
    if call.name == "detach_" and tensor.cell is not None:
        set_requires_grad(frame, tensor.cell, False)
    if call.name == "detach" and frame.discarded_expression is call.node and resolved.grad is not False:
        frame.emit(
            DiscardedResult(frame.event_context(call.node), call.name, frame.place(call.receiver_node), resolved)
        )
    if call.name == "detach_":
        return replace(resolved, moved=None, grad=False, leaf=True)
    memory = alias_storage(frame, storage_of(resolved), "`.detach()`", call.node)
    return replace(resolved, moved=None, grad=False, leaf=True, cell=None, memory=memory)


@models_call("Tensor.pin_memory")
def pin_memory(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.pin_memory()`: a copy in page-locked host memory, which only a tensor of the host has."""
    resolved = frame.resolve(_receiver_tensor(call))
    if frame.discarded_expression is call.node and not resolved.pinned:
        frame.emit(
            DiscardedResult(frame.event_context(call.node), call.name, frame.place(call.receiver_node), resolved)
        )
    operand = Operand("self", frame.place(call.receiver_node), resolved)
    report_pinned_accelerator(frame, operand, ".pin_memory()", call.node)
    if resolved.pinned:
        return resolved
    step = frame.step(StepKind.PASSED, "copied to pinned memory", call.node)
    return replace(
        computed_tensor(resolved),
        placement=placement_of_pinned(frame, resolved.placement, call.node),
        pinned=True,
        memory=new_pinned_storage(frame),
        host_copy=None if frame.module.starts_threads else HostCopy(step, resolved.dtype, pins=True),
    )


@models_call("Tensor.view")
def view(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.view(sizes)` and `tensor.view(dtype)`: the same memory in another shape or read as another dtype.

    `tensor.view(dtype)` keeps the number of dimensions.
    """
    viewed = call_by_table(frame, call)
    given = call.arguments.value("dtype", 0)
    if not isinstance(viewed, Tensor) or given is None or not is_dtype_argument(given):
        return viewed
    return replace(viewed, dtype=requested_dtype(given), rank=_receiver_tensor(call).rank)


@models_call("Tensor.clone")
def clone(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.clone()`: new memory with the same placement."""
    tensor = _receiver_tensor(call)
    return replace(frame.copied_result(tensor), memory=Storage(), empty_sizes=tensor.empty_sizes)


@models_call("Tensor.requires_grad_")
def requires_grad_(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.requires_grad_()`: the same tensor, now a leaf of the autograd graph that gets a gradient."""
    tensor = _receiver_tensor(call)
    wanted = call.arguments.constant("requires_grad", 0, True)
    grad = wanted if isinstance(wanted, bool) else None
    if tensor.cell is not None:
        set_requires_grad(frame, tensor.cell, grad)
    changed = replace(tensor, grad=grad, leaf=True if not tensor.grad else tensor.leaf, fresh=tensor.fresh)
    change_tensor(frame, call.receiver_node, tensor, changed)
    return changed


@models_call("Tensor.retain_grad")
def retain_grad(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.retain_grad()`: a tensor that is no leaf keeps its gradient, so its leaf flag becomes unknown."""
    tensor = _receiver_tensor(call)
    replace_value(frame, call.receiver_node, tensor, replace(tensor, leaf=None))
    return NONE


@models_call("Tensor.item", "Tensor.tolist")
def to_python(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.item()` and `tensor.tolist()`: Python numbers, for which the host waits."""
    call_by_table(frame, call)
    if call.name == "item":
        return Number(python_type_of(frame.resolve(_receiver_tensor(call)).dtype))
    return frame.allocate(call.node, Sequence(None, UNKNOWN))


@models_call("torch.Size")
def size_of_numbers(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.Size(sizes)`: a shape, of no dimension where it is empty."""
    given = call.first
    if given is None:
        return Size(Rank.ZERO)
    return given.value if isinstance(given.value, Size) else Size(rank_of_shape(frame, [given]))


@models_call(
    "Tensor.size",
    "Tensor.dim",
    "Tensor.numel",
    "Tensor.nelement",
    "Tensor.stride",
    "Tensor.ndimension",
    "Tensor.element_size",
)
def size_query(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.size()`, `dim()`, `numel()` and the like: integers that the host knows without waiting."""
    tensor = _receiver_tensor(call)
    if call.name == "size" and not call.arguments.positional and not call.arguments.keywords:
        return Size(tensor.rank, tensor.empty_sizes)
    if tensor.empty_sizes is not None:
        match call.name:
            case "size":
                return size_of(tensor.empty_sizes, call.arguments.value("dim", 0) or UNKNOWN)
            case "dim" | "ndimension":
                return Const(len(tensor.empty_sizes))
            case "numel" | "nelement":
                return Const(0)
    memory = tensor.memory
    if call.name in ("numel", "nelement") and memory is not None and memory.is_contiguous:
        return element_count(
            memory.root, SourceText(frame.place(call.node), call.node, " > 0"), frame.site_key(call.node)
        )
    return Number("int")


@models_call("Tensor.get_device")
def get_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.get_device()`: the index of its device, where it is on one."""
    return _index_of(frame, frame.resolve(_receiver_tensor(call)).placement, call.node)


def _index_of(frame: Frame, placement: Placement, node: cst.CSTNode) -> Value:
    """Return the index of the device that a placement names: -1 for the host."""
    if isinstance(placement, ConditionalPlacement):
        yes, no = _index_of(frame, placement.yes, node), _index_of(frame, placement.no, node)
        return yes if yes == no else ConditionalValue(placement.test, yes, no)
    accelerator_index = Number("int", (ACCELERATOR_INDEX, placement.device, frame.site_key(node)))
    match placement.device:
        case DeviceSymbol(origin=origin):
            test = Literal(device_type_atom(origin, HOST, SourceText(frame.place(node), node, " == -1")))
            known = entails(frame.state.path_condition, test)
            if known is not None:
                return NO_DEVICE_INDEX if known else accelerator_index
            return ConditionalValue(test, NO_DEVICE_INDEX, accelerator_index)
        case device if is_host(device):
            return NO_DEVICE_INDEX
        case device if is_accelerator(device):
            return accelerator_index
    return Number("int", ("device index", frame.site_key(node)))


@models_call("Tensor.is_floating_point", "Tensor.is_complex", "torch.is_floating_point", "torch.is_complex")
def dtype_query(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.is_floating_point()` and `is_complex()`: known where the dtype is."""
    given = call.receiver if call.receiver is not None else call.arguments.value("input", 0)
    tensor = as_tensor(given) if given is not None else None
    name = frame.resolve(tensor).dtype.name if tensor is not None else None
    if name is None:
        return Number("bool")
    return Const(is_floating(name) if call.name.endswith("is_floating_point") else name.startswith("complex"))


@models_call("Tensor.copy_")
def copy_(frame: Frame, call: LibraryCall) -> Value:
    """Model `tensor.copy_(source)`: copy from any device; the receiver keeps its placement."""
    tensor = _receiver_tensor(call)
    given = call.arguments.get("src", 0)
    operand = as_operand(frame, "src", given) if given is not None else None
    source = operand.tensor if operand is not None else Tensor()
    flag = call.arguments.constant("non_blocking", 1, False)
    comes = [leaf.device for _, leaf in placement_cases(source.placement, frame.state.path_condition)]
    report_shared_write(
        frame, tensor, call.receiver_node, call.node, queued=flag is not False and not all(map(is_host, comes))
    )
    if operand is not None:
        report_read_by_copy(frame, operand, frame.resolve(tensor).placement, call.node, "copy_")
    step = frame.step(StepKind.MOVED, "moved by `.copy_()`", call.node)
    if flag is True:
        record_copy_in_flight(frame, source, frame.resolve(tensor).placement, step)
    pending = pending_copy(frame, source.placement, frame.resolve(tensor).placement, step, non_blocking=flag is True)
    changed = replace(written_tensor(frame, tensor, source), pending=pending)
    change_tensor(frame, call.receiver_node, tensor, changed)
    return changed


@models_call("Tensor.backward", "torch.autograd.backward")
def backward(frame: Frame, call: LibraryCall) -> Value:
    """Model `loss.backward()` by the method's row of the semantics table: the backward pass runs where the loss is.

    It raises unless autograd tracks the loss, which is therefore known to require grad afterwards. It may call hooks.
    """
    call_by_table(frame, call)
    run_unfollowed_hooks(frame, call.arguments)
    if call.receiver is not None:
        _mark_as_tracked(frame, call.receiver_node)
    return NONE


@models_call("apex.amp.scale_loss")
def scale_loss(frame: Frame, call: LibraryCall) -> Value:
    """Model `with amp.scale_loss(loss, optimizer) as scaled`, whose block runs the backward pass of the scaled loss."""
    given = call.arguments.get("loss", 0)
    if given is not None:
        _mark_as_tracked(frame, given.node)
    return UNKNOWN


def _mark_as_tracked(frame: Frame, node: cst.CSTNode | None) -> None:
    """Note that the tensor under a name requires grad, as the backward pass of it, or of it scaled, has shown."""
    node = differentiated_name(node)
    if node is None:
        return
    loss = frame.evaluate(node)
    tensor = as_tensor(loss)
    if tensor is None or tensor.grad is not None or tensor.cell is not None:
        return
    # Other libraries' tensors have a method of the same name.
    if not isinstance(loss, Unknown) or not frame.module.has_other_tensors:
        rebind(frame, node, loss, replace(tensor, grad=True))


@models_call("Tensor.split", "Tensor.chunk", "Tensor.unbind", "torch.split", "torch.chunk", "torch.unbind")
def tensor_pieces(frame: Frame, call: LibraryCall) -> Value:
    """Model `split`, `chunk` and `unbind`: pieces of the tensor; a tuple of known length for `chunk(n)` with n <= 6."""
    source = (
        call.receiver
        if call.receiver is not None
        else call.arguments.value("input", 0) or call.arguments.value("tensor", 0)
    )
    tensor = as_tensor(source) if source is not None else None
    if tensor is None:
        return UNKNOWN
    resolved = frame.resolve(tensor)
    piece = replace(
        computed_tensor(resolved),
        memory=resolved.memory and resolved.memory.part(object()),
        rank=resolved.rank if "unbind" not in call.name else resolved.rank.fewer,
    )
    position = 0 if call.receiver is not None else 1
    count = call.arguments.constant("chunks", position, None) if "chunk" in call.name else None
    if isinstance(count, int) and 0 < count <= 6:
        return Tuple((piece,) * count)
    return frame.allocate(call.node, Sequence(None, piece, "tuple"))


def _receiver_tensor(call: LibraryCall) -> Tensor:
    """Return the tensor on which a method is called; an unknown tensor if the receiver of the method is no tensor."""
    tensor = as_tensor(call.receiver) if call.receiver is not None else None
    return tensor if tensor is not None else Tensor()


_FILE_MODES: Final = frozenset({"r", "rb", "rt", "br"})
"""The modes in which a program opens a file to read it."""


@models_call("torch.load")
def load(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.load(file, map_location=...)`: data of unknown structure on the device of `map_location`.

    Without `map_location` the result is unknown: tensors return to the device on which they were saved. So it is with a
    file mode, `torch.load(path, "rb")`, which torch refuses only for a file that holds tensors.
    """
    where = call.arguments.get("map_location", 1)
    if where is None or is_absent_or_none(where.value):
        _report_load(frame, call, 1)
        return UNKNOWN
    if isinstance(where.value, Const) and where.value.value in _FILE_MODES:
        return UNKNOWN
    placement = requested_placement(
        frame, where.value, where.node, frame.step(StepKind.CREATED, "loaded by `torch.load`", call.node)
    )
    return OpaqueData(placement, mixed=True)


@models_call("torch.jit.load", "torch.hub.load_state_dict_from_url", "torch.utils.model_zoo.load_url")
def load_otherwise(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.jit.load(file)` and other functions that load checkpoints: an unknown value."""
    position = 1 if call.name == "torch.jit.load" else 2
    where = call.arguments.get("map_location", position)
    if where is None or is_absent_or_none(where.value):
        _report_load(frame, call, position)
    return call_by_table(frame, call)


def _report_load(frame: Frame, call: LibraryCall, position: int) -> None:
    """Report a checkpoint that is loaded to where it was saved, unless something else may say where to load it."""
    if not call.arguments.complete or "mmap" in call.arguments.keywords:
        return
    if frame.state.torch_state.default_device is not None:
        return
    guarded = is_behind_device_check(frame)
    frame.emit(LoadedWhereSaved(frame.event_context(call.node), call.name, position, guarded))


@models_call("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer")
def make_parameter(frame: Frame, call: LibraryCall) -> Value:
    """Model `nn.Parameter(tensor)`: a tensor whose placement is stored in an object on the abstract heap.

    The parameter keeps its identity when its module moves, so every reference to it must see the new placement.
    """
    data = call.arguments.get("data", 0)
    given = as_tensor(data.value) if data is not None else None
    resolved = frame.resolve(given) if given is not None else Tensor()
    requires = call.arguments.constant("requires_grad", 1, True)
    grad = requires if isinstance(requires, bool) else None
    reference = frame.allocate(call.node, ParameterCell(resolved.placement, resolved.dtype, grad), "parameter")
    return Tensor(resolved.placement, resolved.dtype, resolved.rank, grad, leaf=True, cell=reference.address)


@models_call("torch.nn.utils.rnn.PackedSequence")
def packed_sequence(frame: Frame, call: LibraryCall) -> Value:
    """Model a direct call of `PackedSequence(...)`: an unknown value."""
    return UNKNOWN


@models_call("torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pack_sequence")
def pack_sequence(frame: Frame, call: LibraryCall) -> Value:
    """Model `pack_padded_sequence(input, lengths)` and `pack_sequence`: data placed where the input is.

    `lengths` must be on the host.
    """
    call_by_table(frame, call)
    data = call.arguments.value("input", 0)
    tensor = as_tensor(data) if data is not None else None
    return OpaqueData(frame.resolve(tensor).placement) if tensor is not None else UNKNOWN


def _with_unknown_rank(frame: Frame, call: LibraryCall) -> list[Value]:
    """Return each tensor argument of a call as a computed tensor of unknown rank; unknown for any other argument."""
    given = [as_tensor(argument.value) for argument in call.arguments.positional]
    return [UNKNOWN if one is None else replace(computed_tensor(frame.resolve(one)), rank=Rank.SOME) for one in given]


@models_call("torch.atleast_1d", "torch.atleast_2d", "torch.atleast_3d")
def atleast_nd(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.atleast_1d`, `atleast_2d` and `atleast_3d`: one tensor alone, or a tuple of several."""
    items = _with_unknown_rank(frame, call)
    return items[0] if len(items) == 1 else Tuple(tuple(items))


@models_call("torch.broadcast_tensors", "torch.meshgrid")
def reshape_all(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.broadcast_tensors` and `torch.meshgrid`: a tuple of the reshaped arguments.

    The table knows which devices and dtypes must be the same.
    """
    result, items = call_by_table(frame, call), _with_unknown_rank(frame, call)
    return result if len(items) == 1 and items[0] == UNKNOWN else Tuple(tuple(items))


FOREACH = ("add", "sub", "mul", "div", "maximum", "minimum", "lerp", "addcmul", "addcdiv", "pow", "copy")
"""The operations that have a `torch._foreach_` form."""


@models_call(*(f"torch._foreach_{name}{suffix}" for name in FOREACH for suffix in ("", "_")))
def foreach(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch._foreach_add_(xs, ys)` and the like: apply the operation to each pair of elements.

    A device conflict is reported, except for `_foreach_copy_`, which copies from any device.
    """
    lists = [
        frame.iterate(one.value, one.node) for one in call.arguments.positional if isinstance(one.value, (Ref, Tuple))
    ]
    groups = [
        as_operand(frame, name, Argument(found.any, argument.node))
        for name, found, argument in zip(("self", "other", "third"), lists, call.arguments.positional, strict=False)
    ]
    operands = [replace(one, inside=True) for one in groups if one is not None]
    if not call.name.startswith("torch._foreach_copy"):
        conflict = find_device_conflict(frame, call.node, call.name, operands)
        if conflict is not None:
            frame.emit(conflict)
    if call.name.endswith("_") or not operands:
        return NONE
    return frame.allocate(call.node, Sequence(None, frame.copied_result(operands[0].tensor), "tuple"))
