"""Datasets and loaders: what a batch is, and that it comes on the host."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.device import CPU
from devlint.domain.dtype import Dtype, DtypeSource
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.placement import Basis, PlacementCase, Step, StepKind, map_cases
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    Number,
    OpaqueData,
    Rank,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devlint.interpreter.language.iteration_protocol import item_by_index
from devlint.interpreter.objects.library_objects import LOADER, move_value
from devlint.interpreter.objects.module_state import constant_bool
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call, models_iteration

TENSOR_DATASET = "torch.utils.data.TensorDataset"


@models_call(LOADER, "torch.utils.data.dataloader.DataLoader")
def loader(frame: Frame, call: LibraryCall) -> Value:
    """`DataLoader(dataset, ...)`."""
    names = ("dataset", "batch_size")
    attributes = {name: value for i, name in enumerate(names) if (value := call.arguments.value(name, i)) is not None}
    for name in ("collate_fn", "pin_memory", "num_workers", "generator"):
        value = call.arguments.value(name)
        if value is not None:
            attributes[name] = value
    return frame.allocate(call.node, Instance(LOADER, attributes))


@models_call(TENSOR_DATASET)
def tensor_dataset(frame: Frame, call: LibraryCall) -> Value:
    """`TensorDataset(a, b)`: each sample is a tuple of rows."""
    items = tuple(one.value for one in call.arguments.positional)
    return frame.allocate(call.node, Instance(TENSOR_DATASET, {"tensors": Tuple(items)}))


@models_call("torch.utils.data.Subset", "torch.utils.data.random_split")
def subset(frame: Frame, call: LibraryCall) -> Value:
    """Parts of a dataset yield what the dataset yields."""
    dataset = call.arguments.value("dataset", 0) or UNKNOWN
    if call.name.endswith("random_split"):
        return frame.allocate(call.node, Sequence(None, dataset))
    return dataset


@models_iteration(LOADER)
def batches(frame: Frame, reference: Ref, thing: Instance, node: cst.BaseExpression) -> Sequence:
    """A loop over a loader goes through its batches."""
    return Sequence(None, batch_of(frame, reference, thing, node))


@models_iteration(TENSOR_DATASET)
def samples(frame: Frame, reference: Ref, thing: Instance, node: cst.BaseExpression) -> Sequence:
    """A loop over a `TensorDataset` goes through its samples."""
    return Sequence(None, sample_of(frame, reference, thing, node))


def sample_of(frame: Frame, reference: Value, thing: Instance | None, node: cst.BaseExpression) -> Value:
    """One sample of a dataset."""
    if thing is None:
        found = frame.iterate(reference, node)
        return found.any
    if thing.cls == TENSOR_DATASET:
        tensors = thing.attributes["tensors"]
        assert isinstance(tensors, Tuple)
        rows = [
            replace(frame.resolve(one), rank=one.rank.fewer, fresh=None, leaf=None, cell=None)
            if isinstance(one, Tensor)
            else UNKNOWN
            for one in tensors.items
        ]
        return Tuple(tuple(rows))
    return item_by_index(frame, reference, node)


def batch_of(frame: Frame, reference: Ref, thing: Instance, node: cst.BaseExpression) -> Value:
    """One batch of a DataLoader: the collated samples, or something of unknown structure on the host."""
    step = frame.step(StepKind.ASSUMED, "comes from a DataLoader, which yields host tensors", node)
    batch = _loaded(frame, thing, step, node)
    if thing.cell is None:
        return batch
    # Somebody has wrapped the loader in one that moves what it yields.
    return OpaqueData(thing.cell.placement) if batch == UNKNOWN else move_value(frame, batch, thing.cell.placement)


def _loaded(frame: Frame, thing: Instance, step: Step, node: cst.BaseExpression) -> Value:
    dataset = thing.attributes.get("dataset", UNKNOWN)
    pinned = constant_bool(thing.attributes.get("pin_memory"), False)
    collate = thing.attributes.get("collate_fn", NONE)
    sample = sample_of(frame, dataset, frame.instance(dataset), node) if not isinstance(dataset, Unknown) else UNKNOWN
    if collate != NONE:
        samples = frame.allocate(node, Sequence(None, sample), "samples")
        batch = frame.call(collate, Arguments(node, [Argument(samples, node)]), node)
        return _pinned(frame, batch, pinned) if batch != UNKNOWN else UNKNOWN
    return _collated(frame, sample, step, pinned, node)


def _pinned(frame: Frame, value: Value, pinned: bool | None, depth: int = 0) -> Value:
    match value:
        case Tensor():
            return replace(value, pinned=pinned, fresh=None)
        case Tuple(items=items) if depth < 4:
            return replace(value, items=tuple(_pinned(frame, one, pinned, depth + 1) for one in items))
    return value


def _collated(
    frame: Frame, value: Value, step: Step, pinned: bool | None, node: cst.BaseExpression, depth: int = 0
) -> Value:
    """default_collate (torch/utils/data/_utils/collate.py): tensors stack, arrays keep their dtype, floats become
    float64."""
    host = PlacementCase(CPU, Basis.ASSUMED, step)
    match value:
        case Tensor():
            # What a sample has where it lies is what the batch has; only the claim is weaker.
            placement = map_cases(
                value.placement,
                lambda leaf: replace(leaf, basis=Basis.ASSUMED, provenance=step) if leaf.device == CPU else leaf,
            )
            return Tensor(placement, value.dtype, value.rank.more, grad=value.grad, pinned=pinned)
        case Array(dtype=dtype):
            return Tensor(host, dtype, value.rank.more, grad=False, pinned=pinned)
        case Number(kind="float") | Const(value=float()):
            made = frame.step(StepKind.CONVERTED, "default_collate makes float64 of Python floats", node)
            return Tensor(host, Dtype("float64", DtypeSource.PYTHON, made), Rank.SOME, grad=False, pinned=pinned)
        case Number(kind="int" | "bool") | Const(value=int()):
            return Tensor(host, Dtype("int64", DtypeSource.PYTHON), Rank.SOME, grad=False, pinned=pinned)
        case Tuple(items=items) if depth < 4:
            return replace(value, items=tuple(_collated(frame, one, step, pinned, node, depth + 1) for one in items))
        case Ref(address=address) if depth < 4:
            thing = frame.get(address)
            if isinstance(thing, Dict):
                entries = {
                    key: _collated(frame, one, step, pinned, node, depth + 1) for key, one in thing.entries.items()
                }
                return frame.allocate(
                    node, Dict(entries, None if thing.element is None else OpaqueData(host, pinned)), f"batch{depth}"
                )
            if isinstance(thing, Sequence) and thing.kind == "list":
                # Samples that are lists of as many things make as many batches.
                items = thing.items if thing.items is not None else (thing.element,)
                parts = tuple(_collated(frame, one, step, pinned, node, depth + 1) for one in items)
                columns = Sequence(parts) if thing.items is not None else Sequence(None, parts[0])
                return frame.allocate(node, columns, f"batch{depth}")
    return OpaqueData(host, pinned)
