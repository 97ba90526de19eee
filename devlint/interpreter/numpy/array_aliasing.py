"""Which NumPy calls hand on the memory they are given, and which write to it."""

from __future__ import annotations

from typing import Final

from devlint.domain.storage import Storage
from devlint.domain.value import Array, Tensor, Value
from devlint.interpreter.operations.aliasing import alias_storage, report_shared_write, storage_of, storage_seen_by
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame

VIEWS: Final = frozenset(
    "reshape ravel transpose squeeze swapaxes view expand_dims moveaxis diagonal flip fliplr flipud rot90 atleast_1d"
    " atleast_2d atleast_3d broadcast_to real imag asarray asanyarray ascontiguousarray".split()
)
"""Calls that return the array itself or a view of it."""

READERS: Final = frozenset({"asarray", "asanyarray", "ascontiguousarray"})
"""Of these, the ones that take a host tensor's memory as well."""

WRITERS: Final = frozenset(
    "ndarray.sort ndarray.fill ndarray.put ndarray.partition numpy.copyto numpy.put numpy.place numpy.putmask"
    " numpy.fill_diagonal numpy.random.shuffle".split()
)
"""Calls that write to their first argument, or to the array they are called on."""


def array_storage(frame: Frame, call: LibraryCall, source: Value | None) -> Storage | None:
    """The memory of the array a call returns, given the array or tensor it is made from; writes are told."""
    name = call.name.rpartition(".")[2]
    _note_writes(frame, call)
    if name.startswith("empty"):
        return None
    if source is None or name not in VIEWS:
        return Storage()
    memory = storage_of(source)
    if isinstance(source, Array):
        return storage_seen_by(frame, name, memory, call.node)
    if isinstance(source, Tensor) and name in READERS and (memory is None or memory.is_contiguous):
        return alias_storage(frame, memory, f"`np.{name}`", call.node, surely="dtype" not in call.arguments.keywords)
    return None


def _note_writes(frame: Frame, call: LibraryCall) -> None:
    written = [call.arguments.keywords["out"]] if "out" in call.arguments.keywords else []
    receiver = call.receiver_argument
    if (call.name if receiver is None else f"ndarray.{call.name}") in WRITERS:
        written += [receiver] if receiver is not None else call.arguments.positional[:1]
    for argument in written:
        report_shared_write(frame, argument.value, argument.node, call.node)
