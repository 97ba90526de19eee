"""Library calls without a model: by their row in a table, as a layer to construct, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.objects import Instance, Sequence
from devlint.domain.value import UNKNOWN, Array, Batch, Callable_, Library, Partial, Ref, Tensor, Value
from devlint.interpreter.library.array_readers import ESTIMATORS, is_estimator, reads_arrays
from devlint.interpreter.modules.library_layers import construct_layer
from devlint.interpreter.modules.library_methods import call_member
from devlint.interpreter.numpy.array_calls import numpy_call, read_tensors
from devlint.interpreter.objects.havoc import havoc, wait
from devlint.interpreter.objects.library_objects import member_row
from devlint.interpreter.operations.table_operations import apply_row
from devlint.interpreter.state.arguments import Invocation
from devlint.interpreter.state.frame import Run

HARMLESS: Final = (
    "torch.",
    "builtins.",
    "math.",
    "os.",
    "sys.",
    "logging.",
    "time.",
    "numpy.",
    "random.",
    "re.",
    "json.",
    "warnings.",
)
"""Libraries that do not move the modules they are given."""


def by_table(run: Run, invocation: Invocation) -> Value:
    """What the tables say of a call; unknown when they do not know it."""
    name, receiver = invocation.name, invocation.receiver
    table = run.engine.table
    if isinstance(receiver, Array) or (receiver is None and name.startswith(("numpy.", "pandas."))):
        return numpy_call(run, invocation)
    if isinstance(receiver, (Tensor, Batch)):
        row = table.method(name)
        return apply_row(run, row, invocation.arguments, invocation.receiver_argument) if row is not None else UNKNOWN
    if isinstance(receiver, Partial):
        return _through_super(run, invocation, receiver)
    if receiver is None:
        row = table.find(name)
        if row is not None and row.module is not None:
            return construct_layer(run, table.canonical(name), row, invocation.arguments, invocation.node)
        if row is not None and row.special in ("", "batch"):
            return apply_row(run, row, invocation.arguments)
        if is_estimator(name):
            return run.allocate(invocation.node, Instance(ESTIMATORS, {}))
        if reads_arrays(name):
            read_tensors(run, invocation)
        elif not name.startswith(HARMLESS):
            havoc(run, invocation.arguments)
            wait(run)
        elif name.startswith("torch.Tensor."):
            method = table.find(name)
            return apply_row(run, method, invocation.arguments) if method is not None else UNKNOWN
        return UNKNOWN
    thing = run.get(receiver.address) if isinstance(receiver, Ref) else None
    if isinstance(receiver, Ref) and isinstance(thing, Sequence) and thing.items is not None:
        # `rotate`, or anything else: the elements may stand elsewhere now.
        run.put(receiver.address, replace(thing, items=None, element=thing.any))
    owner = run.instance(receiver)
    if owner is not None and isinstance(owner.cls, str) and owner.cls.startswith("numpy."):
        return numpy_call(run, invocation)
    member = member_row(run, receiver, name)
    if member is not None and isinstance(receiver, Ref) and not member.property:
        return call_member(run, receiver, member, invocation.arguments)
    if owner is not None:
        havoc(run, invocation.arguments)
    return UNKNOWN


def _through_super(run: Run, invocation: Invocation, receiver: Partial) -> Value:
    """`super().method(...)` where the method lies in a library: the receiver's own library behaviour."""

    if receiver.target != Library("builtins.super") or len(receiver.args) != 2:
        return UNKNOWN
    target = receiver.args[1]
    if isinstance(target, Callable_):
        return UNKNOWN
    return run.invoke(Invocation(invocation.name, invocation.arguments, invocation.node, target))
