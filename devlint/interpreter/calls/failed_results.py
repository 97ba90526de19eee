"""Results of calls that have failed under some conditions: where their tensors are then is unknown."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.objects import Dict, Sequence
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement_lattice import failed_where
from devlint.domain.value import AllocationSite, ConditionalValue, OpaqueData, Ref, Tensor, Tuple, Value
from devlint.interpreter.objects.contained_tensors import MAX_LEVELS
from devlint.interpreter.state.events import CallOnStack
from devlint.interpreter.state.frame import Frame


def result_after_failures(frame: Frame, call: CallOnStack, value: Value) -> Value:
    """Return the result of a call that has ended, without the placements that it has not where the call has failed."""
    for when in frame.analysis.failed_calls.end(call):
        value = _result_where_failed(frame, value, when)
    return value


def _result_where_failed(frame: Frame, value: Value, when: PathCondition, levels: int = MAX_LEVELS) -> Value:
    """Return the result of a call that has failed under some conditions: its tensors are then anywhere.

    Containers are changed in the heap. `levels` is the number of nested containers to open.
    """
    match value:
        case Tensor(cell=None) | OpaqueData():
            return replace(value, placement=failed_where(value.placement, when))
        case ConditionalValue(yes=yes, no=no):
            return replace(
                value,
                yes=_result_where_failed(frame, yes, when, levels),
                no=_result_where_failed(frame, no, when, levels),
            )
        case Tuple(items=items):
            return replace(value, items=tuple(_result_where_failed(frame, one, when, levels) for one in items))
        case Ref(address=address) if levels:
            _change_container(frame, address, when, levels - 1)
    return value


def _change_container(frame: Frame, address: AllocationSite, when: PathCondition, levels: int) -> None:
    """Change the tensors in a list or a dict of the heap to what they are where the call has failed."""
    thing = frame.get(address)
    if isinstance(thing, Sequence):
        items = thing.items and tuple(_result_where_failed(frame, one, when, levels) for one in thing.items)
        element = _result_where_failed(frame, thing.element, when, levels)
        frame.put(address, replace(thing, items=items, element=element))
    elif isinstance(thing, Dict):
        entries = {key: _result_where_failed(frame, one, when, levels) for key, one in thing.entries.items()}
        frame.put(address, replace(thing, entries=entries))
