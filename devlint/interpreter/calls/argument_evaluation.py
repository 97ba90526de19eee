"""The evaluation of a call's arguments, `*` and `**` arguments included."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.join import any_opaque_part
from devlint.domain.objects import Dict, Sequence
from devlint.domain.value import UNKNOWN, OpaqueData, Tuple, Value
from devlint.interpreter.objects.tensor_containers import is_tensor_container, tensor_container_item
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame

MAX_SPREAD: Final = 64
"""The largest number of elements of a list that become arguments of a call one by one."""

_OF_FEW_ENTRIES: Final = "transformers.BatchFeature"
"""The batch that a feature extractor makes: often `input_values` or `pixel_values` is its only tensor."""


def evaluate_arguments(frame: Frame, node: cst.Call) -> Arguments:
    """Evaluate the arguments of a call; `*` and `**` arguments of known content become single arguments."""
    found = Arguments(node)
    for arg in node.args:
        value = frame.evaluate(arg.value)
        argument = Argument(value, arg.value)
        if not arg.star:
            if arg.keyword is None:
                found.positional.append(argument)
            else:
                found.keywords[arg.keyword.value] = argument
        elif arg.star == "*":
            unrolled = _written_elements(frame, value) or frame.iterate(value, arg.value)
            if unrolled.items is None:
                if found.complete:
                    # The first layers of `nn.Sequential(*layers)` are known also where others come behind a test.
                    found.positional.extend(Argument(item, arg.value) for item in unrolled.prefix)
                found.spread = Argument(unrolled.element, arg.value) if found.complete else found.spread
                found.complete = False
                found.rest = Argument(unrolled.element, arg.value)
            else:
                found.positional.extend(Argument(item, arg.value) for item in unrolled.items)
        else:
            mapping = frame.contents(value)
            thing = frame.object_of(mapping)
            if isinstance(thing, Dict):
                found.keywords.update({str(key): Argument(item, arg.value) for key, item in thing.entries.items()})
                if thing.element is not None:
                    found.complete, found.spread = False, None
                    found.rest = Argument(thing.element, arg.value)
            else:
                found.complete, found.spread = False, None
                found.rest = Argument(_any_entry(frame, value), arg.value)
    return found


def _written_elements(frame: Frame, value: Value) -> Sequence | None:
    """Return the elements of a list or tuple of which each is known; None for other values, and for too many.

    Each becomes one argument, where a loop would run over a join of so many: the layers of `nn.Sequential(*layers)`.
    """
    thing = Sequence(value.items) if isinstance(value, Tuple) else frame.object_of(value)
    known = isinstance(thing, Sequence) and thing.items is not None and len(thing.items) <= MAX_SPREAD
    return thing if isinstance(thing, Sequence) and known else None


def _any_entry(frame: Frame, value: Value) -> Value:
    """Return the value that stands for every entry of `more` in a call `f(**more)`, if `more` is no dict.

    Where the program has replaced several entries of a library's batch, it may have replaced all that there are, and
    so it may where it has replaced one entry of what a feature extractor makes.
    """
    thing = frame.instance(value)
    if isinstance(value, OpaqueData):
        return any_opaque_part(value)
    if thing is None or not is_tensor_container(frame, value):
        return UNKNOWN
    entries_at_least = 1 if thing.cls == _OF_FEW_ENTRIES else 2
    if len(thing.attributes) >= entries_at_least:
        return UNKNOWN
    return tensor_container_item(thing)
