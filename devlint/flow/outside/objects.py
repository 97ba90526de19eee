"""Objects of libraries that a model file describes: what they hand out, where their tensors are, what they move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.flow.calls.arguments import Argument, Arguments, bind_row
from devlint.flow.classes.ancestors import ancestors
from devlint.flow.code.definitions import ClassInfo
from devlint.flow.nn.lifecycle import is_module, own_operand, placement_of_module, relocate
from devlint.flow.path.run import Run
from devlint.flow.tensors.operands import Bound
from devlint.flow.tensors.operations import IMPLICIT, apply_row, operate
from devlint.semantics.row import Row, parse_row
from devlint.values.device import CPU
from devlint.values.dtype import UNKNOWN_DTYPE, Dtype
from devlint.values.heap import Cell, Dict, Instance, Registration
from devlint.values.placement import UNKNOWN_PLACEMENT, How, Kind, Leaf, Placement, is_unknown
from devlint.values.value import (
    UNKNOWN,
    Batch,
    Callable_,
    Library,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
    symbol,
)

LOADER: Final = "torch.utils.data.DataLoader"


def member_row(run: Run, receiver: Value | None, name: str) -> Row | None:
    """The row of an object's method or attribute, by its library class."""
    for cls in library_classes(run, receiver):
        row = run.engine.table.find(f"{cls}.{name}")
        if row is not None:
            return row
    return None


def library_classes(run: Run, receiver: Value | None) -> Iterator[str]:
    """The library classes that an object is of, or is built on."""
    thing = run.instance(receiver) if receiver is not None else None
    if thing is None:
        return
    if isinstance(thing.cls, str):
        yield thing.cls
    elif isinstance(thing.cls, Callable_) and isinstance(thing.cls.definition, ClassInfo):
        yield from (one.name for one in ancestors(run, thing.cls.definition) if isinstance(one, Library))


def call_member(run: Run, receiver: Ref, row: Row, arguments: Arguments) -> Value:
    """Call a method by its row, or read an attribute; a module's own tensors take part where the row names them."""
    node = arguments.node if isinstance(arguments.node, cst.BaseExpression) else cst.Name("self")
    thing = run.instance(receiver)
    own = None
    if thing is not None and IMPLICIT in row.same and is_module(run, receiver):
        own = own_operand(run, receiver, thing, arguments.node)
    return apply_row(run, row, arguments, Argument(receiver, node), own=own)


def given_by_framework(run: Run, receiver: Ref, method: str, arguments: Arguments) -> Arguments:
    """The arguments with which a framework calls a method of the program: it has moved some to the object's device."""
    row = member_row(run, receiver, method)
    if row is None or row.special != "hook":
        return arguments
    batch = Batch(own_placement(run, receiver))
    positional = list(arguments.positional)
    for position, name in enumerate(row.params[1 : len(positional) + 1]):
        if name in row.moves and isinstance(positional[position].value, (Unknown, Tensor)):
            positional[position] = replace(positional[position], value=batch)
    return replace(arguments, positional=positional)


def by_convention(run: Run, arguments: Arguments) -> Value | None:
    """What a call of something unknown gives, where one of its arguments tells by itself."""
    for condition, cells in run.engine.table.models.conventions():
        name, _, wanted = condition.partition("=")
        if arguments.constant(name) == wanted:
            row = parse_row("the call", cells)
            return operate(run, row, bind_row(row, arguments, None, {}), arguments.node, complete=arguments.complete)
    return None


# Holders: objects whose tensors are all in one place


def is_holder(run: Run, value: Value) -> bool:
    """Whether an object is of a class that holds tensors, and moves them in place."""
    thing = run.instance(value)
    if thing is None or not isinstance(thing.cls, str):
        return False
    row = run.engine.table.find(thing.cls)
    return row is not None and row.special == "batch"


def held(thing: Instance, name: str | None = None) -> Value:
    """What a holder has under a name (None: any of it)."""
    if name is not None and name in thing.attributes:
        return thing.attributes[name]
    return Batch(thing.cell.placement) if thing.cell is not None else UNKNOWN


# What a call hands out


def own_placement(run: Run, receiver: Value) -> Placement:
    """Where an object holds its own tensors; one of which nobody has said it is on a device of its own."""
    thing = run.instance(receiver)
    if thing is None or not isinstance(receiver, Ref):
        return UNKNOWN_PLACEMENT
    if is_module(run, receiver):
        placement = placement_of_module(run, receiver)
        if not is_unknown(placement):
            return placement
    elif thing.cell is not None:
        return thing.cell.placement
    return Leaf(symbol(("own", receiver.address), "the module"), How.CALLER)


def placement_of_data(run: Run, bound: Bound, name: str, node: cst.CSTNode) -> Placement:
    """Where the elements of a dataset are, as far as that is known; else, as those of most, on the host."""
    for argument in bound.get(name, ()):
        value = argument.value
        if not isinstance(value, Ref) or run.instance(value) is None:
            value = run.iterate(value, argument.node).any
        thing = run.instance(value)
        if thing is not None and thing.cell is not None:
            return thing.cell.placement
    return Leaf(CPU, How.ASSUMED, run.step(Kind.ASSUMED, "comes from a loader, which yields host tensors", node))


def new_placement(name: str) -> Placement:
    """The device that an object of this class chooses: one and the same for all in a process."""
    return Leaf(symbol(("chosen by", name), f"the {name.rpartition('.')[2]}"), How.CALLER)


def move(run: Run, row: Row, bound: Bound, placement: Placement) -> Bound:
    """Move those arguments that the row says are moved; the arguments as they then are."""
    moved = dict(bound)
    for name in row.moves:
        moved[name] = [replace(one, value=moved_to(run, one.value, placement)) for one in bound.get(name, ())]
    return moved


def moved_to(run: Run, value: Value, placement: Placement) -> Value:
    """A value after somebody has moved what it holds; modules, loaders and holders are moved themselves."""
    match value:
        case Tensor():
            return replace(run.settle(value), placement=placement, cell=None, fresh=None, pinned=None)
        case Batch():
            return Batch(placement)
        case Tuple(items=items):
            return replace(value, items=tuple(moved_to(run, one, placement) for one in items))
        case Ref(address=address):
            thing = run.get(address)
            if is_module(run, value) or is_holder(run, value):
                relocate(run, value, lambda before, dtype: (placement, dtype))
            elif isinstance(thing, Dict):
                entries = {key: moved_to(run, one, placement) for key, one in thing.entries.items()}
                run.put(address, replace(thing, entries=entries))
            elif isinstance(thing, Instance) and thing.cls == LOADER:
                run.put(address, replace(thing, cell=Cell(placement, UNKNOWN_DTYPE)))
    return value


def hand_out(run: Run, row: Row, bound: Bound, result: Tensor, form: str, node: cst.CSTNode) -> Value:
    """The result in one of the forms that only model files use."""
    kind, _, cls = form.partition(":")
    match kind:
        case "batch":
            return Batch(result.placement)
        case "object":
            name = cls.replace("{class}", row.name.rpartition(".")[0])
            cell = _cell(run, name, result.placement, result.dtype)
            return run.allocate(node, _filled(Instance(name, {}, cell=cell), row, bound))
        case "arguments":
            values = [one.value for name in cls.split(",") for one in bound.get(name, ())]
            return values[0] if len(values) == 1 else Tuple(tuple(values))
    return UNKNOWN


def _filled(thing: Instance, row: Row, bound: Bound) -> Instance:
    """A holder with what its constructor was given."""
    given = [(name, bound[name][0].value) for name in row.tensors if row.special == "batch" and bound.get(name)]
    for name, value in given:
        thing = thing.with_attribute(name, value, Registration.BUFFER)
    return thing


def _cell(run: Run, name: str, placement: Placement, dtype: Dtype) -> Cell | None:
    """The tensors an object is born with: none, where its class is a module without any."""
    row = run.engine.table.find(name)
    if row is not None and row.module is not None and row.module.parameters == row.module.buffers == "never":
        return None
    return Cell(placement, dtype)
