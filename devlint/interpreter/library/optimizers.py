"""Models of `torch.optim`: the parameters that an optimizer holds and updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.value import NONE, UNKNOWN, Ref, StringPrefix, Tensor, Tuple, Value
from devlint.interpreter.operations.aliasing import report_shared_write
from devlint.interpreter.operations.tensor_transfers import transfer_that_unleafed
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.events import MovedLeaf
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

OPTIMIZERS = tuple(
    f"torch.optim.{name}"
    for name in (
        "Adadelta",
        "Adafactor",
        "Adagrad",
        "Adam",
        "AdamW",
        "Adamax",
        "ASGD",
        "LBFGS",
        "NAdam",
        "RAdam",
        "RMSprop",
        "Rprop",
        "SGD",
        "SparseAdam",
        "Muon",
    )
)

HELD: Final = "the parameters held"
"""The attribute of a modelled optimizer that holds its parameters; no attribute of a program has such a name."""


@models_call(*OPTIMIZERS)
def make_optimizer(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.optim.Adam(params, ...)` and the like: an object that holds the parameters, in groups.

    A parameter that is no leaf of the autograd graph because it has been moved is reported: torch refuses it.
    """
    given = call.arguments.get("params", 0)
    if given is None or isinstance(given.value, Tensor):
        return frame.allocate(call.node, Instance(call.name, {}))
    groups = list(_parameter_groups(frame, given))
    held = tuple(one for params in groups for one in params.items or (params.any,))
    for one in held:
        moved = transfer_that_unleafed(one) if isinstance(one, Tensor) else None
        if moved is not None:
            frame.emit(MovedLeaf(frame.event_context(given.node), moved, False, "it is given to an optimizer"))
        elif isinstance(one, Tensor) and one.leaf and one.cell is None:
            _mark_as_trained(frame, given.node, one)
    kept = tuple(_allocate_group(frame, params, call.node, number) for number, params in enumerate(groups))
    in_groups = frame.allocate(call.node, Sequence(kept), "param_groups")
    return frame.allocate(call.node, Instance(call.name, {HELD: Tuple(held), "param_groups": in_groups}))


def _parameter_groups(frame: Frame, given: Argument) -> Iterator[Sequence]:
    """Yield the parameters of each group of a new optimizer.

    There is one group of all parameters passed, or one group for each dict passed.
    """
    found = frame.iterate(given.value, given.node)
    parts = [frame.object_of(one) for one in found.items or (found.any,)]
    if not any(isinstance(part, Dict) for part in parts):
        yield found
        return
    for part in parts:
        params = part.entries.get("params", UNKNOWN) if isinstance(part, Dict) else UNKNOWN
        yield Sequence((params,)) if isinstance(params, Tensor) else frame.iterate(params, given.node)


def _allocate_group(frame: Frame, params: Sequence, node: cst.CSTNode, number: int) -> Value:
    """Allocate one entry of an optimizer's `param_groups`: a dict of the group's parameters and of unknown settings."""
    held = frame.allocate(node, replace(params, kind="list"), f"parameters {number}")
    return frame.allocate(node, Dict({"params": held}, UNKNOWN, StringPrefix()), f"group {number}")


@models_call("torch.optim.*.step")
def step(frame: Frame, call: LibraryCall) -> Value:
    """Model `optimizer.step()`: record an in-place write to the parameters that the optimizer holds."""
    thing = frame.instance(call.receiver)
    held = thing.attributes.get(HELD) if thing is not None else None
    for one in held.items if isinstance(held, Tuple) else ():
        report_shared_write(frame, one, call.receiver_node, call.node, "param_groups")
    return UNKNOWN


def _mark_as_trained(frame: Frame, node: cst.BaseExpression, leaf: Tensor) -> None:
    """Mark a leaf tensor as held by an optimizer, where the call lists it: `Adam([x, self.y])`.

    The mark is set on the tensor in each variable and attribute of the list that holds it.
    """
    taken = replace(leaf, trained=True)
    for element in node.elements if isinstance(node, (cst.List, cst.Tuple)) else ():
        match element.value:
            case cst.Name(value=name) if frame.state.names.get(name) == leaf:
                frame.bind(name, taken)
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                reference = frame.evaluate(owner)
                thing = frame.instance(reference)
                if isinstance(reference, Ref) and thing is not None and thing.attributes.get(name) == leaf:
                    frame.put(reference.address, thing.with_attribute(name, taken, thing.registered.get(name)))


@models_call(*(f"torch.optim.*.{name}" for name in ("zero_grad", "state_dict", "load_state_dict")))
def optimizer_method(frame: Frame, call: LibraryCall) -> Value:
    """Model `optimizer.zero_grad()`, `state_dict` and `load_state_dict`: they move nothing; the result is unknown."""
    return UNKNOWN


@models_call("torch.optim.*.add_param_group")
def add_param_group(frame: Frame, call: LibraryCall) -> Value:
    """Model `optimizer.add_param_group(group)`: make `param_groups` unknown."""
    thing = frame.instance(call.receiver)
    if thing is not None and isinstance(call.receiver, Ref):
        frame.put(call.receiver.address, thing.with_attribute("param_groups", UNKNOWN))
    return NONE
