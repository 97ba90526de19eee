"""Device flips: sample calls of a torch callable with some operands on the host and the others on an accelerator.

They show which operands may be on another device. The accelerator is a CUDA device or an emulated one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch

from devlint.runtime.derive.call_probe import (
    as_zero_dim,
    dense_operands,
    operands,
    probe_call,
    replace_operands,
    tensors_of,
)
from devlint.runtime.derive.probed_callable import ProbedCall, ProbedCallable
from devlint.runtime.derive.sample_calls import SampleCall

HOST, ACCELERATOR = "cpu", "cuda"
Places = dict[str, str]
"""Device types by operand name."""
_OTHER_CAUSES = ("not implemented for", "NotImplementedError", "NotEmulated", "out of memory", "CUDNN", "Could not run")
"""Parts of error messages that have nothing to do with operand devices."""


@dataclass(frozen=True, slots=True)
class DeviceFlip:
    """A sample call of a torch callable that is to run with each operand on a device chosen for it.

    ``places`` holds the device types by operand name, ``ranks`` the operands' ranks. The operands in ``strays`` are on
    the other device than the rest.
    """

    function: Callable[..., Any]
    call: SampleCall
    places: Places
    ranks: dict[str, int]
    strays: frozenset[str]
    tensors: dict[str, torch.Tensor]

    def __str__(self) -> str:
        return ", ".join(f"{name}:{place}/{self.ranks[name]}d" for name, place in self.places.items())

    def result(self) -> FlipResult:
        """Make the call with each operand on its device; return the devices of the result tensors, or the error."""
        where = {id(t): self.places[n] for n, t in self.tensors.items()}
        torch.manual_seed(0)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                call = self.call.map_tensors(lambda t: t.clone().to(where[id(t)]))
                found = self.function(*call.args, **_with_accelerator(call.kwargs))
            except Exception as error:  # any exception counts: the question is whether the call raises
                return FlipResult(error=f"{type(error).__name__}: {error}".replace("\n", " ")[:200])
        return FlipResult(tuple(t.device.type for t in tensors_of(found)))


@dataclass(frozen=True, slots=True)
class FlipResult:
    """The outcome of a call with operands on two devices: the device types of its result tensors, or its error."""

    devices: tuple[str, ...] = ()
    error: str = ""

    @property
    def failed_for_other_reason(self) -> bool:
        """Return whether the call failed, but for a reason that has nothing to do with its operands' devices."""
        return any(cause in self.error for cause in _OTHER_CAUSES)


def _with_accelerator(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a call's keyword arguments with the accelerator as ``device``, if ``device`` is given and not None."""
    return {n: (ACCELERATOR if n == "device" and v is not None else v) for n, v in kwargs.items()}


def placeable_calls(subject: ProbedCallable) -> Iterator[tuple[ProbedCall, dict[str, torch.Tensor]]]:
    """Yield the calls of a probed callable whose operands can be moved between devices, each with its operands by name.

    All tensors of such a call are strided, not quantized, and known by parameter name.
    """
    for probed in subject.calls_to_vary():
        bound = subject.bound(probed.call)
        given = dense_operands(bound)
        if given and len(given) == len(operands(bound)) == len(tensors_of((probed.call.args, probed.call.kwargs))):
            yield probed, given


def place_operands(probed: ProbedCall, given: dict[str, torch.Tensor], default: str, strays: set[str]) -> DeviceFlip:
    """Return a sample call that is to run with the operands in ``strays`` on one device and the others on ``default``.

    One of the two devices is the host, the other is the accelerator.
    """
    other = HOST if default == ACCELERATOR else ACCELERATOR
    places = {n: other if n in strays else default for n in given}
    ranks = {n: t.dim() for n, t in given.items()}
    return DeviceFlip(probed.function, probed.call, places, ranks, frozenset(strays), given)


def place_as_scalars(
    subject: ProbedCallable, probed: ProbedCall, given: dict[str, torch.Tensor], names: set[str]
) -> DeviceFlip | None:
    """Return a sample call that is to run with the named operands as 0-dim host tensors, the others on the accelerator.

    Returns None if the call with these 0-dim tensors does not even run on the CPU alone.
    """
    call = replace_operands(probed.call, subject.overloads, {n: as_zero_dim(given[n]) for n in names})
    if probe_call(probed.function, subject.overloads, call).error:
        return None
    return place_operands(
        ProbedCall(probed.function, call, probed.outcome), dense_operands(subject.bound(call)), ACCELERATOR, names
    )


def flips(subject: ProbedCallable) -> Iterator[DeviceFlip]:
    """Yield the device flips of a callable: each sample call with one operand on the other device than the rest.

    Further flips have one or two operands as 0-dim tensors on the host, and the others on the accelerator.
    """
    for probed, given in placeable_calls(subject):
        if len(given) < 2 or place_operands(probed, given, ACCELERATOR, set()).result().error:
            continue
        for name in given:
            yield place_operands(probed, given, ACCELERATOR, {name})
            yield place_operands(probed, given, HOST, {name})
        sets = [{n} for n in given] + [set(pair) for pair in combinations(given, 2) if len(given) > 2]
        for names in sets:
            flip = place_as_scalars(subject, probed, given, names)
            if flip is not None:
                yield flip
