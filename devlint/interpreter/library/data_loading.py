"""Models of datasets and data loaders: the structure of samples and batches, and their placement on the host."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import libcst as cst

from devlint.domain.device import CPU
from devlint.domain.dtype import Dtype, DtypeSource
from devlint.domain.join import alternatives, any_opaque_part, join, part_as_loaded, without_none
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    Placement,
    PlacementCase,
    Step,
    StepKind,
    map_cases,
)
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    ConditionalValue,
    Const,
    Number,
    OpaqueData,
    ProgramDefinition,
    Rank,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
    as_tensor,
)
from devlint.interpreter.language.iteration_protocol import item_by_index
from devlint.interpreter.library.loader_workers import MADE, run_in_worker
from devlint.interpreter.library.random_generators import check_host_generator
from devlint.interpreter.objects.contained_tensors import contained_tensors
from devlint.interpreter.objects.library_objects import COLLATED, DATA_LOADER, loader_step, move_value
from devlint.interpreter.objects.module_state import constant_bool
from devlint.interpreter.operations.pinned_memory import report_pinned_accelerator
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call, models_iteration

TENSOR_DATASET = "torch.utils.data.TensorDataset"
"""The class of objects made by `TensorDataset(...)`."""
MAX_COLLATED_LEVELS = 4
"""How many levels of containers in a sample are collated; deeper ones have unknown structure."""


@models_call(DATA_LOADER, "torch.utils.data.dataloader.DataLoader")
def data_loader(frame: Frame, call: LibraryCall) -> Value:
    """Model `DataLoader(dataset, ...)`: an object that keeps the dataset and the options that shape its batches."""
    names = ("dataset", "batch_size")
    attributes = {name: value for i, name in enumerate(names) if (value := call.arguments.value(name, i)) is not None}
    for name in ("collate_fn", "pin_memory", "num_workers", "generator", "multiprocessing_context"):
        value = call.arguments.value(name)
        if value is not None:
            attributes[name] = value
    attributes[MADE] = Unknown(provenance=frame.step(StepKind.CREATED, "the loader is made", call.node))
    check_host_generator(frame, call)
    return frame.allocate(call.node, Instance(DATA_LOADER, attributes))


@models_call(TENSOR_DATASET)
def tensor_dataset(frame: Frame, call: LibraryCall) -> Value:
    """Model `TensorDataset(a, b)`: a dataset whose samples are tuples of rows, one row of each tensor."""
    items = tuple(one.value for one in call.arguments.positional)
    return frame.allocate(call.node, Instance(TENSOR_DATASET, {"tensors": Tuple(items)}))


@models_call("torch.utils.data.Subset", "torch.utils.data.random_split")
def subset(frame: Frame, call: LibraryCall) -> Value:
    """Model `Subset(dataset, ...)`: the dataset itself, because a part of a dataset has samples of the same kind.

    Model `random_split(dataset, ...)`: a list in which the dataset stands for each part.
    """
    dataset = call.arguments.value("dataset", 0) or UNKNOWN
    if call.name.endswith("random_split"):
        check_host_generator(frame, call, 2)
        return frame.allocate(call.node, Sequence(None, dataset))
    return dataset


@models_iteration(DATA_LOADER)
def iterate_loader(frame: Frame, reference: Ref, thing: Instance, node: cst.BaseExpression) -> Sequence:
    """Model a loop over a DataLoader: return the sequence of its batches."""
    return Sequence(None, _batch_of(frame, reference, thing, node))


@models_iteration(TENSOR_DATASET)
def iterate_tensor_dataset(frame: Frame, reference: Ref, thing: Instance, node: cst.BaseExpression) -> Sequence:
    """Model a loop over a `TensorDataset`: return the sequence of its samples."""
    return Sequence(None, _sample_of(frame, reference, thing, node))


def _sample_of(frame: Frame, reference: Value, thing: Instance | None, node: cst.BaseExpression) -> Value:
    """Return one sample of a dataset: rows of a `TensorDataset`, or the result of the dataset's `__getitem__`.

    `thing` is the heap object of the dataset. Where it is None, the dataset is a plain iterable, and the sample is one
    of the elements of the iterable.
    """
    if thing is None:
        found = frame.iterate(reference, node)
        return found.any
    if thing.cls == TENSOR_DATASET:
        tensors = thing.attributes["tensors"]
        if not isinstance(tensors, Tuple):
            return UNKNOWN  # One of several datasets, or one whose tensors the program has replaced.
        return Tuple(tuple(_row_of(frame, one) for one in tensors.items))
    return item_by_index(frame, reference, node)


def _row_of(frame: Frame, value: Value) -> Value:
    """Return a row of one of the tensors of a `TensorDataset`; unknown where nothing tells of the tensor.

    What somebody has handed in is where it was put.
    """
    handed_in = isinstance(value, Unknown) and value.origin is not None
    tensor = as_tensor(value) if handed_in or isinstance(value, (Tensor, OpaqueData, ConditionalValue)) else None
    if tensor is None:
        return UNKNOWN
    return replace(frame.resolve(tensor), rank=tensor.rank.fewer, fresh=None, leaf=None, cell=None)


def _batch_of(frame: Frame, reference: Ref, thing: Instance, node: cst.BaseExpression) -> Value:
    """Return one batch of a DataLoader: the collated samples, or data of unknown structure on the host."""
    step = loader_step(frame, "DataLoader", node)
    batch = run_in_worker(frame, thing, node, lambda: _collated_batch(frame, reference, thing, step, node))
    if constant_bool(thing.attributes.get("pin_memory"), False):
        _report_pinned_batch(frame, thing, batch, node)
    if thing.cell is None:
        return batch
    # The program has wrapped the loader in one that moves its batches.
    return (
        OpaqueData(thing.cell.placement, of_loader=True, origin=("batch", reference.address))
        if isinstance(batch, Unknown)
        else move_value(frame, batch, thing.cell.placement)
    )


def _report_pinned_batch(frame: Frame, loader: Instance, batch: Value, node: cst.BaseExpression) -> None:
    """Report a loader that is to pin batches which lie on an accelerator, where it is made."""
    made = loader.attributes.get(MADE)
    step = made.provenance if isinstance(made, Unknown) else None
    for one in contained_tensors(frame, (batch,)):
        tensor = as_tensor(one)
        if step is not None and tensor is not None:
            operand = Operand("batch", frame.place(node), frame.resolve(tensor), inside=True)
            if report_pinned_accelerator(frame, operand, "pin_memory=True", node, step.place):
                return


def _collated_batch(frame: Frame, reference: Ref, thing: Instance, step: Step, node: cst.BaseExpression) -> Value:
    """Return the batch that a loader's `collate_fn`, or `default_collate`, makes of the dataset's samples."""
    dataset = without_none(thing.attributes.get("dataset", UNKNOWN))
    if isinstance(dataset, ConditionalValue):
        sides = [thing.with_attribute("dataset", one) for one in (dataset.yes, dataset.no)]
        one, other = (_collated_batch(frame, reference, side, step, node) for side in sides)
        # Batches that have not as many parts are not known as one, and each may lie where its own dataset has put it.
        batch = join(one, other, dataset.test)
        return OpaqueData(UNKNOWN_PLACEMENT, of_loader=True) if isinstance(batch, Unknown) else batch
    pinned = constant_bool(thing.attributes.get("pin_memory"), False)
    collate = thing.attributes.get("collate_fn", NONE)
    sample = _sample_of(frame, dataset, frame.instance(dataset), node) if not isinstance(dataset, Unknown) else UNKNOWN
    if collate != NONE:
        samples = frame.allocate(node, Sequence(None, sample), "samples")
        batch = frame.call(collate, Arguments(node, [Argument(samples, node)]), node)
        return Unknown((COLLATED, reference.address)) if batch == UNKNOWN else _with_pinned(frame, batch, pinned)
    host = PlacementCase(CPU, Basis.ASSUMED, step)
    placement = UNKNOWN_PLACEMENT if _may_be_placed(frame, dataset) else host
    unknown = OpaqueData(placement, pinned, of_loader=True, origin=("batch", reference.address))
    return _default_collate(frame, sample, host, unknown, node)


def _may_be_placed(frame: Frame, dataset: Value) -> bool:
    """Return whether a dataset may put its data on an accelerator itself, where its items are not known.

    The code of its class tells, and that of the transforms around, which it may apply; for a dataset of unknown class,
    the code of the datasets around as well.
    """
    placed = frame.analysis.facts.placed_datasets
    for one in alternatives(dataset):
        if isinstance(one, Unknown) and placed.are_around(frame.module):
            return True
        thing = frame.instance(one)
        if thing is None or not isinstance(thing.cls, ProgramDefinition):
            continue
        info = thing.cls.definition
        if isinstance(info, ClassInfo) and (
            placed.may_place(info.module, info.unit) or placed.are_around(frame.module, transforms_only=True)
        ):
            return True
    return False


def _with_pinned(frame: Frame, value: Value, pinned: bool | None, depth: int = 0) -> Value:
    """Return a batch whose tensors are marked as lying in pinned memory, those inside nested tuples too."""
    match value:
        case Tensor():
            return replace(value, pinned=pinned, fresh=None)
        case Tuple(items=items) if depth < 4:
            return replace(value, items=tuple(_with_pinned(frame, one, pinned, depth + 1) for one in items))
    return value


def _default_collate(
    frame: Frame,
    value: Value,
    host: PlacementCase,
    unknown: OpaqueData,
    node: cst.BaseExpression,
    path: tuple[Hashable, ...] = (),
) -> Value:
    """Return the batch that `default_collate` makes of samples (torch/utils/data/_utils/collate.py).

    Tensors are stacked, arrays keep their dtype, and Python floats become float64. `host` is the place of what lies on
    the host, and `unknown` the batch of what is not known. `path` are the keys and indices that lead from the whole
    sample to `value`; they tell the containers of one batch apart.
    """
    pinned = unknown.pinned
    match value:
        case Tensor():
            placement = _assumed_on_host(value.placement, host)
            return Tensor(placement, value.dtype, value.rank.more, grad=value.grad, pinned=pinned)
        case Array(dtype=dtype):
            return Tensor(host, dtype, value.rank.more, grad=False, pinned=pinned)
        case Number(kind="float") | Const(value=float()):
            made = frame.step(StepKind.CONVERTED, "`default_collate` makes float64 of Python floats", node)
            return Tensor(host, Dtype("float64", DtypeSource.PYTHON, made), Rank.SOME, grad=False, pinned=pinned)
        case Number(kind="int" | "bool") | Const(value=int()):
            return Tensor(host, Dtype("int64", DtypeSource.PYTHON), Rank.SOME, grad=False, pinned=pinned)
        case Tuple(items=items) if len(path) < MAX_COLLATED_LEVELS:
            return replace(
                value,
                items=tuple(
                    _default_collate(frame, one, host, part_as_loaded(unknown, i), node, (*path, i))
                    for i, one in enumerate(items)
                ),
            )
        case Ref(address=address) if len(path) < MAX_COLLATED_LEVELS:
            thing = frame.get(address)
            if isinstance(thing, Dict):
                entries = {
                    key: _default_collate(frame, one, host, part_as_loaded(unknown, key), node, (*path, key))
                    for key, one in thing.entries.items()
                }
                return frame.allocate(
                    node,
                    Dict(entries, None if thing.element is None else any_opaque_part(unknown)),
                    f"batch{path}",
                )
            if isinstance(thing, Sequence) and thing.kind == "list":
                # Samples that are lists of n elements are collated to a list of n batches.
                columns = thing.items
                if columns is None:
                    each = _default_collate(frame, thing.element, host, replace(unknown, origin=None), node, (*path, 0))
                    return frame.allocate(node, Sequence(None, each), f"batch{path}")
                parts = tuple(
                    _default_collate(frame, one, host, part_as_loaded(unknown, i), node, (*path, i))
                    for i, one in enumerate(columns)
                )
                return frame.allocate(node, Sequence(parts), f"batch{path}")
        case OpaqueData(placement=placement) if placement != UNKNOWN_PLACEMENT:
            return replace(unknown, placement=_assumed_on_host(placement, host))
        case Unknown(origin=("item", ("param", *_), _)):
            # The dataset holds data that somebody has handed in, who may have moved it.
            return replace(unknown, placement=UNKNOWN_PLACEMENT)
    return unknown


def _assumed_on_host(placement: Placement, host: PlacementCase) -> Placement:
    """Return the placement of a batch of samples: that of the samples, of which one on the host is only assumed."""
    return map_cases(
        placement,
        lambda leaf: replace(leaf, basis=Basis.ASSUMED, provenance=host.provenance) if leaf.device == CPU else leaf,
    )
