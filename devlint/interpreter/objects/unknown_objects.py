"""Results of code that devlint does not know."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.device import device_from_string, is_host
from devlint.domain.placement import UNKNOWN_PLACEMENT, placement_cases
from devlint.domain.value import UNKNOWN, Const, DeviceValue, OpaqueData, StringPrefix, Tensor, Unknown, Value
from devlint.interpreter.objects.contained_tensors import contained_tensors
from devlint.interpreter.objects.library_objects import DATA_LOADER
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.syntax.source_code import words_in

OF_HOST_TENSORS: Final = Unknown(of_host_tensors=True)
"""What unknown code has returned that was given host tensors and no others."""
PLACED: Final = Unknown(element=OpaqueData(UNKNOWN_PLACEMENT, mixed=True))
"""What unknown code has returned that was given a device: a loader of this kind moves its batches there."""


def result_of_unknown_code(frame: Frame, arguments: Arguments, callee: Unknown = UNKNOWN) -> Unknown:
    """Return the result of a call of code that devlint does not know, by where the tensors that it is given are.

    A `callee` that is itself made of host tensors, as a method of such a result is, counts as one of them. What is
    given a device may put its data there.
    """
    if _is_given_device(arguments):
        return PLACED
    given = [one.value for one in arguments if isinstance(one.value, (Tensor, OpaqueData))]
    placements = [frame.resolve(one).placement if isinstance(one, Tensor) else one.placement for one in given]
    on_host = [is_host(leaf.device) for one in placements for _, leaf in placement_cases(one)]
    loader = _reported_loader(frame, arguments)
    if loader is not None:
        return Unknown(element=_any_part_of_batch(frame, loader))
    return OF_HOST_TENSORS if all(on_host) and (on_host or callee.of_host_tensors) else UNKNOWN


def _is_given_device(arguments: Arguments) -> bool:
    """Return whether a call is given a device by its keyword that may be another one than the host."""
    match arguments.value("device"):
        case None | Const(value=None):
            return False
        case Const(value=str(text)):
            return not is_host(device_from_string(text))
        case DeviceValue(placement=placement):
            return not all(is_host(leaf.device) for _, leaf in placement_cases(placement))
    return True


def _reported_loader(frame: Frame, arguments: Arguments) -> Argument | None:
    """Return the DataLoader among the arguments of a call that looks like a report of progress; None for other calls.

    Such a call has a label for the reader beside the loader, and nothing that may name a device: other wrappers of
    loaders move the batches.
    """
    loaders = [one for one in arguments if (it := frame.instance(one.value)) is not None and it.cls == DATA_LOADER]
    if len(loaders) != 1 or not arguments.complete:
        return None
    labels = [one for one in arguments if isinstance(one.value, StringPrefix) or _is_text(one.value)]
    return loaders[0] if labels and not _mentions_device(arguments.node) else None


def _is_text(value: Value) -> bool:
    """Return whether a value is a constant string."""
    return isinstance(value, Const) and isinstance(value.value, str)


def _mentions_device(node: cst.CSTNode) -> bool:
    """Return whether a name or a literal in a call mentions a device."""
    return any(part in word.lower() for word in words_in(node) for part in ("device", "cuda", "gpu", "cpu"))


def _any_part_of_batch(frame: Frame, loader: Argument) -> OpaqueData | None:
    """Return the value that stands for every part of a loader's batches and their numbers; None if that is unknown."""
    batch = frame.iterate(loader.value, loader.node).any
    parts = [*contained_tensors(frame, [batch])]
    placements = {one.placement for one in parts if isinstance(one, (Tensor, OpaqueData))}
    return OpaqueData(placements.pop(), mixed=True) if len(placements) == 1 else None
