"""What unknown code may do to what it is given."""

from __future__ import annotations

from dataclasses import replace

from devlint.flow.nn.lifecycle import is_module, relocate
from devlint.flow.outside.records import opaque_address, record_of
from devlint.flow.path.arguments import Arguments
from devlint.flow.path.run import Run
from devlint.values.dtype import UNKNOWN_DTYPE
from devlint.values.placement import UNKNOWN_PLACEMENT
from devlint.values.value import Ref, Unknown


def havoc(run: Run, arguments: Arguments) -> None:
    """Something unknown was handed these: where its modules are afterwards is not known."""
    for argument in arguments:
        value = argument.value
        if isinstance(value, Ref) and is_module(run, value):
            relocate(run, value, lambda placement, dtype: (UNKNOWN_PLACEMENT, UNKNOWN_DTYPE))
        elif isinstance(value, Unknown) and value.origin is not None:
            record = record_of(run, value)
            if record is not None and record.cell is not None:
                run.put(opaque_address(value), replace(record, cell=None))


def wait(run: Run) -> None:
    """Something unknown ran: it may have waited for the accelerator, so nothing is claimed of unfinished work."""
    ambient = run.state.ambient
    run.state.ambient = replace(ambient, epoch=ambient.epoch + 1, unsynchronized=None, waited=None)
