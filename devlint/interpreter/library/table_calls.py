"""Results of library calls that have no hand-written model, mostly by the rows of devlint's semantics tables.

A row describes one function, method or layer class of torch or NumPy. Without a row the result is unknown.
"""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Instance, Sequence, with_fewer_items
from devlint.domain.value import UNKNOWN, Array, LibraryName, OpaqueData, Partial, ProgramDefinition, Ref, Tensor, Value
from devlint.interpreter.library.array_readers import ESTIMATOR_CLASS, is_estimator, reads_arrays
from devlint.interpreter.library.none_sizes import FACTORIES, need_sizes
from devlint.interpreter.library.refused_sizes import has_refused_size
from devlint.interpreter.modules.library_layers import construct_library_module
from devlint.interpreter.modules.library_methods import call_library_method
from devlint.interpreter.numpy.array_calls import call_numpy, report_tensors_read
from devlint.interpreter.objects.havoc import assume_synchronized, havoc
from devlint.interpreter.objects.library_objects import find_member_row
from devlint.interpreter.objects.unknown_objects import result_of_unknown_code
from devlint.interpreter.operations.table_operations import apply_row
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame

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
"""Prefixes of libraries that do not move the modules passed to them."""


def call_by_table(frame: Frame, invocation: LibraryCall) -> Value:
    """Return the value of a library call by its row of devlint's semantics tables; unknown without a row.

    A function without a row is assumed to move the modules among its arguments and to wait for the accelerator, unless
    its library is listed as doing neither (`HARMLESS`).
    """
    name, receiver = invocation.name, invocation.receiver
    table = frame.analysis.table
    if isinstance(receiver, Array) or (receiver is None and name.startswith(("numpy.", "pandas."))):
        return call_numpy(frame, invocation)
    if isinstance(receiver, (Tensor, OpaqueData)):
        row = table.method(name)
        return apply_row(frame, row, invocation.arguments, invocation.receiver_argument) if row is not None else UNKNOWN
    if isinstance(receiver, Partial):
        return _through_super(frame, invocation, receiver)
    if receiver is None:
        row = table.find(name)
        if row is not None and row.module is not None:
            return construct_library_module(frame, table.canonical(name), row, invocation.arguments, invocation.node)
        if name in FACTORIES and (has_refused_size(frame, invocation) or not need_sizes(frame, invocation)):
            frame.fail()
            return UNKNOWN
        if row is not None and row.special in ("", "batch"):
            return apply_row(frame, row, invocation.arguments)
        if is_estimator(name):
            return frame.allocate(invocation.node, Instance(ESTIMATOR_CLASS, {}))
        if reads_arrays(name):
            report_tensors_read(frame, invocation)
        elif not name.startswith(HARMLESS):
            havoc(frame, invocation.arguments)
            assume_synchronized(frame)
            return result_of_unknown_code(frame, invocation.arguments)
        elif name.startswith("torch.Tensor."):
            method = table.find(name)
            return apply_row(frame, method, invocation.arguments) if method is not None else UNKNOWN
        return UNKNOWN
    thing = frame.object_of(receiver)
    if isinstance(receiver, Ref) and isinstance(thing, Sequence):
        # A method without a model, such as `rotate`, may reorder the elements, or remove some.
        frame.put(receiver.address, with_fewer_items(thing))
    owner = frame.instance(receiver)
    if owner is not None and isinstance(owner.cls, str) and owner.cls.startswith("numpy."):
        return call_numpy(frame, invocation)
    member = find_member_row(frame, receiver, name)
    if member is not None and isinstance(receiver, Ref) and not member.property:
        return call_library_method(frame, receiver, member, invocation.arguments)
    if owner is not None:
        havoc(frame, invocation.arguments)
    return UNKNOWN


def _through_super(frame: Frame, invocation: LibraryCall, receiver: Partial) -> Value:
    """Return the value of `super().method(...)` where a library class defines the method.

    The method is called on the object to which `super()` is bound. Unknown where the receiver is no such `super()`.
    """
    if receiver.target != LibraryName("builtins.super") or len(receiver.args) != 2:
        return UNKNOWN
    target = receiver.args[1]
    if isinstance(target, ProgramDefinition):
        return UNKNOWN
    return frame.invoke(LibraryCall(invocation.name, invocation.arguments, invocation.node, target))
