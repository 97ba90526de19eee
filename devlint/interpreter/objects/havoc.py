"""What unknown code may do to what it is given."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.value import Ref, Unknown
from devlint.interpreter.objects.module_state import is_module, relocate
from devlint.interpreter.objects.unknown_objects import opaque_address, record_of
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Run


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
