"""Comparison of devlint's semantics table of torch with torch's OpInfo entries, which generate sample calls.

All entries that run on the CPU take part. Their samples are drawn with another seed than those from which the table was
derived.
"""

from __future__ import annotations

import operator
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from devlint.runtime.derive import agreement, public_names, sample_calls
from devlint.runtime.derive.agreement import Tally
from devlint.runtime.derive.declarations import overloads_of
from devlint.runtime.derive.device_flips import ACCELERATOR, DeviceFlip, flips
from devlint.runtime.derive.probed_callable import ProbedCallable, probe_callable
from devlint.runtime.derive.result_devices import predicted_device
from devlint.runtime.derive.sample_calls import SampleCall
from devlint.runtime.derive.signatures import Signature, signature_from_names
from devlint.semantics.table import Row, Table

_SEED: Final = 1
"""The seed for the samples; derivation uses another one."""
_SAMPLES, _DRAWN, _ELEMENTS = 6, 40, 20_000


@dataclass(slots=True)
class OpInfoComparison:
    """The outcome of comparing the semantics table with OpInfo entries: tallies of agreements, and the skipped entries.

    ``skipped`` gives the reason for each skipped entry.
    """

    entries: int = 0
    flips: Tally = field(default_factory=Tally)
    result_devices: Tally = field(default_factory=Tally)
    dtypes: Tally = field(default_factory=Tally)
    skipped: dict[str, str] = field(default_factory=dict)

    def tallies(self) -> dict[str, Tally]:
        """Return the tallies of agreement by subject: "device flips", "result devices" and "result dtypes".

        Device flips are calls with operands on two devices, which torch accepts or refuses.
        """
        return {"device flips": self.flips, "result devices": self.result_devices, "result dtypes": self.dtypes}

    def figures(self) -> dict[str, list[int]]:
        """Return, for each subject of comparison, the number of probe calls that agree and the number of all.

        The subjects are those of ``tallies``, and "compared", which counts OpInfo entries: those not skipped, and all.
        """
        right = {title: [tally.probes - len(tally.misses), tally.probes] for title, tally in self.tallies().items()}
        return {"compared": [self.entries - len(self.skipped), self.entries], **right}

    def misses(self, question: str) -> list[str]:
        """Return a description of each disagreement of torch and the semantics table on a subject of ``tallies``.

        For any other subject, return the skipped OpInfo entries, each with the reason.
        """
        if question in self.tallies():
            return self.tallies()[question].misses
        return [f"{title}: {why}" for title, why in self.skipped.items()]

    @property
    def probes(self) -> int:
        """Return the number of probe calls over all subjects of comparison."""
        return sum(tally.probes for tally in self.tallies().values())


@dataclass(frozen=True, slots=True)
class _PublicCallable:
    """The public torch function, method or property that an OpInfo entry tests, with its name and overloads."""

    name: str
    function: Any
    overloads: list[Signature]

    def study(self, calls: Iterator[SampleCall]) -> ProbedCallable:
        """Make these sample calls of the callable on the CPU, and return the callable with those that run."""
        return probe_callable(self.overloads, ((self.function, call) for call in calls))


def compare_opinfos(table: Table, chosen: Callable[[str], bool] = lambda title: True) -> OpInfoComparison:
    """Compare the semantics table with torch on the samples of every OpInfo entry whose title ``chosen`` accepts.

    An accelerator, real or emulated, must be there.
    """
    found = OpInfoComparison()
    op: Any
    for op in op_db:
        title = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        if op.supported_dtypes("cpu") and chosen(title):
            found.entries += 1
            why = _compare_opinfo(table, op, found)
            if why:
                found.skipped[title] = why
    return found


def _compare_opinfo(table: Table, op: Any, found: OpInfoComparison) -> str:
    """Compare the semantics table with torch on the samples of one OpInfo entry, and add the outcomes to ``found``.

    Returns why the entry was skipped, or an empty text if it was not.
    """
    public = _public_callable(op)
    row = table.find(public.name) if public is not None else None
    if public is None or row is None:
        return "not of the public API that the table describes"
    if row.special == "transfer":
        return "modelled by hand in the interpreter"
    before = found.probes
    studied = [
        public.study(_sample_calls(op, dtype)) for dtype in sorted(op.supported_dtypes("cpu"), key=_dtype_sort_key)
    ]
    studied = [each for each in studied if each.probed_calls] or [public.study(iter(sample_calls.calls(public.name)))]
    _compare_devices(row, public.name, studied[0], found)
    for each in studied:
        for probed in each.probed_calls:
            agreement.compare_dtypes(found.dtypes, public.name, row, probed.outcome)
    return "" if found.probes > before else "no tensor comes out"


def _compare_devices(row: Row, name: str, studied: ProbedCallable, found: OpInfoComparison) -> None:
    """Compare the predictions of a callable's semantics-table row with torch: accepted operand devices, result devices.

    The outcomes are added to the tallies in ``found``.
    """
    tried = (
        agreement.distinct_flips(flips(studied)) if row.tensors and not row.factory else list(_factory_flips(studied))
    )
    for flip in tried:
        result = flip.result()
        if result.failed_for_other_reason:
            continue
        if flip.places:
            agreement.compare_flip(found.flips, name, row, flip, result.error)
        given = {argument for argument, value in studied.bound(flip.call).items() if value is not None}
        there = predicted_device(row, flip.places, given)
        if result.devices and there is not None:
            said = f"{name}({flip}): table {there}, torch {', '.join(result.devices)}"
            found.result_devices.count(said if set(result.devices) != {there} else "")


def _factory_flips(studied: ProbedCallable) -> Iterator[DeviceFlip]:
    """Yield calls of a factory such as ``torch.ones``, without a device and with the accelerator as ``device``."""
    for probed in studied.calls_to_vary():
        for more in ({}, {"device": ACCELERATOR}) if "device" in studied.parameter_names else ({},):
            yield DeviceFlip(
                probed.function, SampleCall(probed.call.args, {**probed.call.kwargs, **more}), {}, {}, frozenset(), {}
            )


def _public_callable(op: Any) -> _PublicCallable | None:
    """Return the public torch callable that an OpInfo entry tests, None if there is none.

    It is the public function that the entry calls, else the public callable of the entry's name.
    """
    known = public_names.functions() | public_names.methods()
    for name, function in known.items():
        if function is op.op:
            return _PublicCallable(name, function, overloads_of(name, function))
    for name in (f"torch.{op.name}", f"torch.Tensor.{op.name}", f"torch.Tensor.{op.name}_"):
        canonical = public_names.aliases().get(name, name)
        if canonical in known and public_names.is_property(known[canonical]):
            return _PublicCallable(canonical, operator.attrgetter(op.name), [signature_from_names(["self"], ["self"])])
        if canonical in known:
            return _PublicCallable(canonical, known[canonical], overloads_of(canonical, known[canonical]))
    return None


def _dtype_sort_key(dtype: torch.dtype) -> tuple[bool, bool, str]:
    """Return the key of a dtype by which float32 is sorted first, then other floating-point dtypes, then the rest."""
    return (dtype is not torch.float32, not dtype.is_floating_point, str(dtype))


def _sample_calls(op: Any, dtype: torch.dtype) -> Iterator[SampleCall]:
    """Return a few sample calls of an OpInfo entry with operands of one dtype.

    The calls differ in argument types, flags, and dtypes and ranks of tensors.
    """
    random.seed(_SEED)
    np.random.seed(_SEED)
    torch.manual_seed(_SEED)
    kept: dict[tuple[object, ...], SampleCall] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for sample in islice(op.sample_inputs("cpu", dtype, requires_grad=False), _DRAWN):
                call = SampleCall((sample.input, *sample.args), dict(sample.kwargs))
                if sample_calls.element_count(call) <= _ELEMENTS:
                    kept.setdefault(call.kind(), call)
        except Exception:  # a sample generator may need what this build lacks
            pass
    return islice(iter(kept.values()), _SAMPLES)
