"""Devices of random generators: the check that a call draws its numbers where its `torch.Generator` is."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.device import DeviceRelation, is_host, relate_devices
from devlint.domain.join import without_none
from devlint.domain.placement import Placement
from devlint.domain.value import DeviceValue, Rank, Tensor
from devlint.interpreter.operations.conflicting_placements import conflicting_cases
from devlint.interpreter.operations.left_behind_tensors import are_of_different_types, is_left_behind
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.events import GeneratorConflict, Operand
from devlint.interpreter.state.frame import Frame

GENERATOR: Final = "torch.Generator"
"""The class of torch's random generators; the attribute `device` of its objects is a device."""


def check_generator(frame: Frame, given: Argument, drawn: Placement, node: cst.CSTNode, name: str) -> None:
    """Report a random generator that is on another type of device than the numbers that a call draws from it.

    `drawn` is the placement of those numbers, and `given` the argument that may hold a generator.
    """
    thing = frame.instance(without_none(given.value))
    device = thing.attributes.get("device") if thing is not None and thing.cls == GENERATOR else None
    if not isinstance(device, DeviceValue):
        return
    # A generator and the tensor to be drawn are compared as two tensors, neither of which may be 0-dim.
    generator = Operand("generator", frame.place(given.node), frame.resolve(Tensor(device.placement, rank=Rank.SOME)))
    result = Operand("result", frame.place(node), frame.resolve(Tensor(drawn, rank=Rank.SOME)))
    for when, one, other in conflicting_cases(frame, generator, result):
        misplaced, reference = (other, one) if is_host(other.case.device) else (one, other)
        if are_of_different_types(one, other) or (
            relate_devices(one.case.device, other.case.device) is DeviceRelation.UNDECIDED
            and is_left_behind(frame, misplaced, reference, when)
        ):
            context = frame.event_context(node)
            frame.emit(GeneratorConflict(context, name, misplaced, reference, when, generator=one, drawn=other))
            return
