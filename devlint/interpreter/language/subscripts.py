"""Handlers of subscript reads: the value of `owner[index]` for every kind of owner."""

from __future__ import annotations

import libcst as cst

from devlint.domain.dtype import promotion_category
from devlint.domain.join import alternatives, is_number_or_tensor, join, without_none
from devlint.domain.objects import Dict, Instance, Sequence, entry_key, join_all
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.record import replace
from devlint.domain.storage import Storage
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    BoundLibraryMethod,
    ConditionalValue,
    Const,
    LibraryName,
    Number,
    OpaqueData,
    ProgramDefinition,
    Rank,
    Ref,
    Size,
    StringPrefix,
    SymbolicBool,
    Tensor,
    Tuple,
    TypeUnion,
    Unknown,
    Value,
    as_tensor,
    computed_tensor,
)
from devlint.interpreter.conditions.narrowing import is_on_host, report_host_read
from devlint.interpreter.language.layer_outputs import as_layer_outputs
from devlint.interpreter.language.opaque_data import opaque_item
from devlint.interpreter.objects.collections import dict_with_entry
from devlint.interpreter.objects.enums import enum_member
from devlint.interpreter.objects.evidence import looks_like_tensor
from devlint.interpreter.objects.module_containers import (
    container_class,
    container_part,
    container_parts,
    slice_container,
)
from devlint.interpreter.objects.module_state import ANY_PART
from devlint.interpreter.objects.sequence_lengths import assume_filled
from devlint.interpreter.objects.tensor_containers import is_tensor_container, tensor_container_item
from devlint.interpreter.objects.unseen_parts import as_unseen_part
from devlint.interpreter.operations.aliasing import item_storage, storage_of
from devlint.interpreter.operations.device_conflicts import find_device_conflict
from devlint.interpreter.operations.empty_tensors import empty_sizes_of_item, size_of
from devlint.interpreter.operations.host_indices import assume_wait_for_index, report_host_indices
from devlint.interpreter.operations.index_dtypes import report_refused_index
from devlint.interpreter.operations.tensor_ranks import has_too_many_indices, indexed_rank
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame, evaluates


@evaluates(cst.Subscript)
def subscript(frame: Frame, node: cst.Subscript) -> Value:
    """Evaluate the subscript `owner[index]` (a libcst `Subscript` node)."""
    owner = Argument(frame.evaluate(node.value), node.value)
    indices = evaluate_indices(frame, node)
    value = get_item(frame, owner, indices, node)
    key = indices[0].value if len(indices) == 1 and indices[0] is not None else None
    if isinstance(key, Const) and isinstance(key.value, str):
        return as_layer_outputs(frame, node, node.value, key.value, value)
    return value


def evaluate_indices(frame: Frame, node: cst.Subscript) -> list[Argument | None]:
    """Return the values of the index expressions of a subscript, with None for each slice."""
    found: list[Argument | None] = []
    for element in node.slice:
        inner = element.slice
        if isinstance(inner, cst.Index):
            value = frame.evaluate(inner.value)
            if isinstance(value, Tuple) and isinstance(inner.value, cst.Tuple):
                found.extend(
                    Argument(one, part.value) for one, part in zip(value.items, inner.value.elements, strict=False)
                )
            else:
                found.append(Argument(value, inner.value))
        elif isinstance(inner, cst.Slice):
            for bound in (inner.lower, inner.upper, inner.step):
                if bound is not None:
                    frame.evaluate(bound)
            found.append(None)
    return found


def get_item(frame: Frame, owner: Argument, indices: list[Argument | None], node: cst.CSTNode) -> Value:
    """Return the value of `owner[index]` for indices that are already evaluated; None stands for a slice."""
    value = frame.as_single_tensor(without_none(owner.value))
    index = indices[0] if len(indices) == 1 else None
    is_collection = isinstance(value, Tuple) or isinstance(frame.object_of(value), (Sequence, Dict))
    chosen = _chosen_key(index.value) if index is not None and is_collection else None
    if index is not None and chosen is not None:
        one, other = (get_item(frame, owner, [replace(index, value=key)], node) for key in (chosen.yes, chosen.no))
        return join(one, other, chosen.test)
    match value:
        case Tensor():
            return index_tensor(frame, Argument(value, owner.node), indices, node)
        case Array():
            rank = indexed_rank(value.rank, [index.value if index is not None else None for index in indices])
            return replace(value, fresh=None, rank=rank, memory=_item_storage(value.memory, node, indices))
        case OpaqueData():
            return opaque_item(value, index.value if index is not None else None)
        case Size(empty_sizes=sizes):
            if index is None:
                return Size()
            return size_of(sizes, index.value) if sizes is not None else Number("int")
        case StringPrefix() | Const(value=str()):
            return StringPrefix()
        case Tuple(items=items):
            if index is not None and isinstance(index.value, Const) and isinstance(index.value.value, int):
                position = index.value.value
                return items[position] if -len(items) <= position < len(items) else UNKNOWN
            return _slice_of(items, node) if index is None else join_all(items)
        case Unknown(origin=origin, text=text) if origin is not None:
            if len(indices) > 1:
                # Only tensors and arrays take several indices.
                tensor = as_tensor(value)
                assert tensor is not None
                return index_tensor(frame, Argument(tensor, owner.node), indices, node)
            if index is None or isinstance(index.value, Tensor):
                plain = looks_like_tensor(frame, owner.node) or index is None
                return Unknown(("item", origin, ("slice",)), text, cast=value.cast) if plain else UNKNOWN
            assume_filled(frame, value)
            key = index.value if isinstance(index.value, Const) else ("any",)
            return Unknown(("item", origin, key), f"{text}[...]" if text else "", value.provenance, cast=value.cast)
        case Ref(address=address):
            return _object_item(frame, value, frame.get(address), indices, node)
        case BoundLibraryMethod() if (part := as_unseen_part(frame, value)) is not value:
            return get_item(frame, replace(owner, value=part), indices, node)
        case ProgramDefinition(definition=ClassInfo() as info):
            # `Box[int]` is the class; `Colour["RED"]` one of its members.
            return (enum_member(frame, info, index.value) if index is not None else None) or value
        case LibraryName(name="typing.Union" | "typing.Optional" as union):
            types = [index.value for index in indices if index is not None]
            return TypeUnion((*types, NONE) if union == "typing.Optional" else tuple(types))
        case ConditionalValue():
            sides = [one for one in (value.yes, value.no) if not _is_out_of_range(frame, one, index)]
            if len(sides) == 1:
                return get_item(frame, Argument(sides[0], owner.node), indices, node)
            return join(
                get_item(frame, Argument(value.yes, owner.node), indices, node),
                get_item(frame, Argument(value.no, owner.node), indices, node),
                value.test,
            )
    return UNKNOWN


def _chosen_key(key: Value) -> ConditionalValue | None:
    """Return a key that is one of several constants, by a condition, as a conditional value; None for any other key."""
    if isinstance(key, SymbolicBool):
        return ConditionalValue(key.test, Const(True), Const(False))
    is_chosen = isinstance(key, ConditionalValue) and all(isinstance(one, Const) for one in alternatives(key))
    return key if isinstance(key, ConditionalValue) and is_chosen else None


def _is_out_of_range(frame: Frame, value: Value, index: Argument | None) -> bool:
    """Return whether a sequence surely has no element at an index, so that reading it ends the path."""
    position = index.value.value if index is not None and isinstance(index.value, Const) else None
    thing = frame.object_of(value)
    items = value.items if isinstance(value, Tuple) else thing.items if isinstance(thing, Sequence) else None
    return items is not None and isinstance(position, int) and not -len(items) <= position < len(items)


def _slice_of(items: tuple[Value, ...], node: cst.CSTNode) -> Value:
    """Return the slice of a tuple by a subscript node's bounds (`items[1:3]`); unknown unless they are literals."""
    if isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Slice) and len(node.slice) == 1:
        part = node.slice[0].slice
        bounds: list[int | None] = []
        for bound in (part.lower, part.upper, part.step):
            if bound is None:
                bounds.append(None)
            elif isinstance(bound, cst.Integer):
                bounds.append(bound.evaluated_value)
            elif isinstance(bound, cst.UnaryOperation) and isinstance(bound.expression, cst.Integer):
                bounds.append(-bound.expression.evaluated_value)
            else:
                return UNKNOWN
        return Tuple(items[slice(*bounds)])
    return UNKNOWN


def _object_item(frame: Frame, owner: Ref, thing: object, indices: list[Argument | None], node: cst.CSTNode) -> Value:
    """Return `owner[index]` for an owner on the heap: a sequence, a dict or an object with attributes."""
    index = indices[0] if len(indices) == 1 else None
    if isinstance(thing, Sequence):
        if index is None:
            part = _slice_of(thing.items, node) if thing.items is not None else UNKNOWN
            items = part.items if isinstance(part, Tuple) else None
            return frame.allocate(node, Sequence(items, thing.any, thing.kind, thing.owner))
        assume_filled(frame, owner)
        found = thing.any
        if isinstance(index.value, Const) and isinstance(index.value.value, int):
            position = index.value.value
            if thing.items is not None:
                return thing.items[position] if -len(thing.items) <= position < len(thing.items) else UNKNOWN
            if 0 <= position < len(thing.prefix):
                return thing.prefix[position]
            if is_number_or_tensor(found):
                # Each of the alternatives is an element, but perhaps never the one at this position.
                return UNKNOWN
        return found
    if isinstance(thing, Dict):
        key = index.value if index is not None else UNKNOWN
        return _entry(frame, owner, thing, key, node)
    if isinstance(thing, Instance):
        return _instance_item(frame, owner, thing, indices, node)
    return UNKNOWN


def _entry(frame: Frame, owner: Ref, thing: Dict, key: Value, node: cst.CSTNode) -> Value:
    """Return a dict's value under a key; a defaultdict creates and stores the value of a missing key."""
    known = entry_key(key)
    if known is not None and known[0] in thing.entries:
        return thing.entries[known[0]]
    if thing.element is not None or thing.factory is None:
        return (thing.element or UNKNOWN) if isinstance(key, Const) else thing.any
    made = frame.call(thing.factory, Arguments(node), node)
    frame.put(
        owner.address, dict_with_entry(thing, key, made) if isinstance(key, Const) else replace(thing, element=made)
    )
    return made


def _instance_item(
    frame: Frame, owner: Ref, thing: Instance, indices: list[Argument | None], node: cst.CSTNode
) -> Value:
    """Return `owner[index]` for an owner that is an object.

    The item is a part of a module container (nn.ModuleList) or of a library's batch object, or else the result of the
    object's `__getitem__`.
    """
    index = indices[0] if len(indices) == 1 else None
    container = container_class(frame, thing, "__getitem__")
    if container is not None:
        if index is not None:
            return container_part(thing, index.value)
        parts = container_parts(thing)
        some = _slice_of(tuple(parts.values()), node) if ANY_PART not in parts else UNKNOWN
        return slice_container(
            frame, container, some.items if isinstance(some, Tuple) else None, container_part(thing, None), node
        )
    if is_tensor_container(frame, owner):
        return tensor_container_item(
            thing, str(index.value.value) if index is not None and isinstance(index.value, Const) else None
        )
    method = frame.get_attribute(owner, "__getitem__", node)
    return frame.call(method, Arguments(node, [get_item_argument(indices, node)]), node)


def get_item_argument(indices: list[Argument | None], node: cst.CSTNode) -> Argument:
    """Return the indices of a subscript as the single argument that `__getitem__` receives; a slice is unknown."""
    if len(indices) == 1 and indices[0] is not None:
        return indices[0]
    values = tuple(UNKNOWN if one is None else one.value for one in indices)
    value = Tuple(values) if len(indices) > 1 else UNKNOWN
    return Argument(value, node if isinstance(node, cst.BaseExpression) else cst.Name("key"))


def index_tensor(frame: Frame, owner: Argument, indices: list[Argument | None], node: cst.CSTNode) -> Tensor:
    """Return the tensor that `tensor[index]` selects, and report an index tensor on a device that torch refuses.

    An index tensor may be on the host. Indexing a host tensor with an index tensor on an accelerator fails.
    """
    assert isinstance(owner.value, Tensor)
    tensor = frame.resolve(owner.value)
    chosen = [index.value if index is not None else None for index in indices]
    if has_too_many_indices(tensor.rank, chosen):
        frame.fail()
        return Tensor()
    base = Operand("input", frame.place(owner.node), tensor)
    advanced = False
    for index in indices:
        if index is None:
            continue
        value = without_none(index.value)
        if not isinstance(value, Tensor):
            advanced = advanced or isinstance(value, (Ref, Array))
            continue
        report_index_dtype(frame, "__getitem__", index, value, node)
        if is_number_like(value):
            continue
        advanced = True
        operand = Operand("index", frame.place(index.node), frame.resolve(value))
        if value.dtype.name == "bool" and not is_on_host(operand.tensor):
            report_host_read(frame, value, index.node, "indexing by a mask")
        conflict = find_device_conflict(frame, node, "indexing", [base, operand], 0, frozenset({"index"}))
        if conflict is not None:
            frame.emit(conflict)
            # Which device the fix will choose is unknown; an unknown placement also keeps the finding from repeating.
            return replace(computed_tensor(tensor), placement=UNKNOWN_PLACEMENT, rank=Rank.ANY)
    if advanced:
        report_host_indices(frame, base, indices, node)
    assume_wait_for_index(frame, base, indices)
    rank = indexed_rank(tensor.rank, chosen)
    if advanced:
        return replace(frame.copied_result(tensor), pending=tensor.pending, rank=rank)
    # A view requires a gradient like its base, even where autograd does not record.
    memory = _item_storage(storage_of(tensor), node, indices)
    sizes = empty_sizes_of_item(tensor.empty_sizes, chosen)
    return replace(computed_tensor(tensor), pending=tensor.pending, rank=rank, memory=memory, empty_sizes=sizes)


def report_index_dtype(frame: Frame, method: str, index: Argument, value: Tensor, node: cst.CSTNode) -> None:
    """Report an index tensor of a dtype that torch refuses in a subscript; `method` is the method that runs.

    A 0-dim tensor of any integer dtype is read as a Python number.
    """
    tensor = frame.resolve(value)
    row = frame.analysis.table.method(method)
    name = tensor.dtype.name
    if row is None or not tensor.dtype.is_known:
        return
    if name is None or promotion_category(name) > 1 or not is_number_like(value):
        operation = "indexing" if method == "__getitem__" else "index assignment"
        report_refused_index(frame, row, [Operand("index", frame.place(index.node), tensor)], node, operation)


def _item_storage(memory: Storage | None, node: cst.CSTNode, indices: list[Argument | None]) -> Storage | None:
    """Return the storage of the item that a subscript selects, as a part of its owner's storage.

    The storage is None for index arrays, lists and unknown indices, which may copy. Only plain indices surely give a
    view.
    """
    keys = [index.value for index in indices if index is not None]
    if not isinstance(node, cst.Subscript) or not all(isinstance(key, (Const, Number)) for key in keys):
        return None
    return item_storage(memory, node, keys)


def is_number_like(index: Tensor) -> bool:
    """Return whether an index tensor may be 0-dim: torch then reads it as a Python number, from any device."""
    return index.rank is Rank.ZERO or (index.rank is Rank.ANY and index.dtype.name != "bool")
