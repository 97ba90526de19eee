"""Models of `torch.Generator`, and of samplers that draw from one."""

from __future__ import annotations

from typing import Final

from devlint.domain.device import CPU
from devlint.domain.objects import Instance
from devlint.domain.placement import Placement, PlacementCase, StepKind
from devlint.domain.value import NONE, UNKNOWN, DeviceValue, Value
from devlint.interpreter.operations.device_arguments import host_placement, requested_placement
from devlint.interpreter.operations.generator_devices import GENERATOR, check_generator
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

SAMPLERS: Final = {"RandomSampler": 3, "SubsetRandomSampler": 1, "WeightedRandomSampler": 3}
"""The samplers that draw from a generator, each with the position of its argument `generator`."""


@models_call(GENERATOR)
def generator(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.Generator(device)`: an object that knows the device; the CPU if none is passed."""
    device = call.arguments.get("device", 0)
    if device is None or device.value == NONE:
        placement: Placement = host_placement(frame, GENERATOR, call.node)
    else:
        step = frame.step(StepKind.CREATED, f"created by `{GENERATOR}`", call.node)
        placement = requested_placement(frame, device.value, device.node, step)
    return frame.allocate(call.node, Instance(GENERATOR, {"device": DeviceValue(placement)}))


@models_call("torch.Generator.manual_seed")
def seeded(frame: Frame, call: LibraryCall) -> Value:
    """Model `generator.manual_seed(seed)`, which returns the generator."""
    return call.receiver if call.receiver is not None else UNKNOWN


@models_call(
    *(f"torch.utils.data.{name}" for name in SAMPLERS), *(f"torch.utils.data.sampler.{name}" for name in SAMPLERS)
)
def sampler(frame: Frame, call: LibraryCall) -> Value:
    """Model the samplers of random indices, whose generator must be on the host."""
    check_host_generator(frame, call, SAMPLERS[call.name.rpartition(".")[2]])
    return UNKNOWN


def check_host_generator(frame: Frame, call: LibraryCall, position: int | None = None) -> None:
    """Report a generator on an accelerator that is passed to a loader or sampler, which draw their numbers on the host.

    They draw on the default device, so that nothing is reported where the program has set another one.
    """
    given = call.arguments.get("generator", position)
    if given is not None and frame.state.torch_state.default_device is None:
        name = call.name.rpartition(".")[2]
        step = frame.step(StepKind.PASSED, f"`{name}` draws its random numbers on the host", call.node)
        check_generator(frame, given, PlacementCase(CPU, provenance=step), call.node, name)
