"""NumPy calls that return an array sharing its input's memory, and NumPy calls that write to memory in place."""

from __future__ import annotations

from typing import Final

from devlint.domain.storage import Storage
from devlint.domain.value import Array, Tensor, Value
from devlint.interpreter.operations.aliasing import alias_storage, report_shared_write, storage_of, storage_of_view
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame

VIEWS: Final = frozenset(
    "reshape ravel transpose squeeze swapaxes view expand_dims moveaxis diagonal flip fliplr flipud rot90 atleast_1d"
    " atleast_2d atleast_3d broadcast_to real imag asarray asanyarray ascontiguousarray".split()
)
"""Names of NumPy functions and methods that return the given array itself or a view of it."""

READERS: Final = frozenset({"asarray", "asanyarray", "ascontiguousarray"})
"""The names in `VIEWS` of the functions that also share the memory of a host tensor they are given."""

WRITERS: Final = frozenset(
    "ndarray.sort ndarray.fill ndarray.put ndarray.partition numpy.copyto numpy.put numpy.place numpy.putmask"
    " numpy.fill_diagonal numpy.random.shuffle".split()
)
"""NumPy functions that write to their first argument, and methods that write to their own array."""


def array_storage(frame: Frame, call: LibraryCall, source: Value | None) -> Storage | None:
    """Return the memory of the array that a NumPy call returns, and report the call's writes to shared memory.

    `source` is the array or tensor that the result is made from. None for memory that is not known, and for `empty` and
    its relatives, whose memory devlint does not track.
    """
    name = call.name.rpartition(".")[2]
    _report_writes(frame, call)
    if name.startswith("empty"):
        return None
    if source is None or name not in VIEWS:
        return Storage()
    memory = storage_of(source)
    if isinstance(source, Array):
        return storage_of_view(frame, name, memory, call.node)
    if isinstance(source, Tensor) and name in READERS and (memory is None or memory.is_contiguous):
        return alias_storage(frame, memory, f"`np.{name}`", call.node, surely="dtype" not in call.arguments.keywords)
    return None


def _report_writes(frame: Frame, call: LibraryCall) -> None:
    """Report a NumPy call that writes to memory that other names share.

    The call may write to its argument `out`, to its first argument, or to the array whose method it is.
    """
    written = [call.arguments.keywords["out"]] if "out" in call.arguments.keywords else []
    receiver = call.receiver_argument
    if (call.name if receiver is None else f"ndarray.{call.name}") in WRITERS:
        written += [receiver] if receiver is not None else call.arguments.positional[:1]
    for argument in written:
        report_shared_write(frame, argument.value, argument.node, call.node)
