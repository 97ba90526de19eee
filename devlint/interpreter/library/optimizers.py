"""Models of `torch.optim`: the parameters that an optimizer holds and updates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import libcst as cst

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.path_conditions import NO_CONDITION, conjoin
from devlint.domain.value import NONE, UNKNOWN, Rank, Ref, StringPrefix, Tensor, Tuple, Value
from devlint.interpreter.objects.optimizer_state import HELD, STATE, STATELESS, forget_state, made_state, make_state
from devlint.interpreter.operations.aliasing import report_shared_write
from devlint.interpreter.operations.conflicting_placements import conflicting_cases
from devlint.interpreter.operations.left_behind_tensors import are_of_different_types, is_left_behind
from devlint.interpreter.operations.tensor_transfers import transfer_that_unleafed
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.events import MovedLeaf, Operand, OptimizerStateConflict
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
    attributes: dict[str, Value] = {HELD: Tuple(held), "param_groups": in_groups}
    name = call.name.rpartition(".")[2]
    if name == "SGD" and call.arguments.constant("momentum", 2, 0) in (0, ...):
        attributes[STATELESS] = NONE
    optimizer = frame.allocate(call.node, Instance(call.name, attributes))
    if name == "Adagrad":
        make_state(frame, optimizer, "Adagrad makes its state at once, where the parameters are", call.node)
    return optimizer


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
    if isinstance(call.receiver, Ref) and thing is not None and isinstance(held, Tuple):
        _report_state_left_behind(frame, thing, held.items, call)
        if made_state(thing) is None:
            make_state(frame, call.receiver, "this step makes the state, where the parameters are", call.node)
    return UNKNOWN


def _report_state_left_behind(frame: Frame, thing: Instance, held: Iterable[Value], call: LibraryCall) -> None:
    """Report a step of an optimizer whose state does not lie where its parameters are.

    `held` are its parameters. Where only one path has made the state, the path condition must allow that path.
    """
    made = made_state(thing)
    perhaps = thing.optional.get(STATE)
    needed = frozenset({perhaps}) if perhaps is not None else NO_CONDITION
    if made is None or (STATE in thing.optional and perhaps is None):
        return
    if conjoin(frame.state.path_condition, needed) is None:
        return
    step, state = made
    place = frame.place(call.node)
    for kept, one in zip(state, held, strict=False):
        if not isinstance(kept, Tensor) or not isinstance(one, Tensor):
            continue
        left = Operand("state", step.place, frame.resolve(kept))
        right = Operand("parameter", place, replace(frame.resolve(one), rank=Rank.SOME))
        for when, misplaced, reference in conflicting_cases(frame, left, right):
            if conjoin(frame.state.path_condition | needed, when) is None:
                continue
            if are_of_different_types(misplaced, reference) or is_left_behind(frame, misplaced, reference, when):
                context = frame.event_context(call.node)
                frame.emit(OptimizerStateConflict(context, "step", misplaced, reference, when | needed, made=step))
                return


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


@models_call(*(f"torch.optim.*.{name}" for name in ("zero_grad", "state_dict")))
def optimizer_method(frame: Frame, call: LibraryCall) -> Value:
    """Model `optimizer.zero_grad()` and `state_dict`: they move nothing; the result is unknown."""
    return UNKNOWN


@models_call("torch.optim.*.load_state_dict")
def load_state_dict(frame: Frame, call: LibraryCall) -> Value:
    """Model `optimizer.load_state_dict(state)`, which copies each parameter's state to where the parameter is."""
    if isinstance(call.receiver, Ref):
        make_state(frame, call.receiver, "the state is loaded to where the parameters are", call.node)
    return UNKNOWN


@models_call("torch.optim.*.add_param_group")
def add_param_group(frame: Frame, call: LibraryCall) -> Value:
    """Model `optimizer.add_param_group(group)`: make `param_groups` unknown."""
    forget_state(frame, call.receiver or UNKNOWN)
    thing = frame.instance(call.receiver)
    if thing is not None and isinstance(call.receiver, Ref):
        frame.put(call.receiver.address, thing.with_attribute("param_groups", UNKNOWN))
    return NONE
