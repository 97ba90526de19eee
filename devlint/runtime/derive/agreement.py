"""Comparison of the predictions in devlint's semantics table of torch with what torch does when called.

Compared are the operand devices that torch accepts, the dtypes of results, and waits of the host for a CUDA device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import Any

from devlint.runtime.derive import dtype_cells, fake_tensors, public_names, sample_calls, wait_cells
from devlint.runtime.derive.call_probe import ProbeResult, parameter_of
from devlint.runtime.derive.declarations import overloads_of
from devlint.runtime.derive.device_flips import ACCELERATOR, HOST, DeviceFlip, Places, flips, placeable_calls
from devlint.runtime.derive.probe_device import probe_accelerator
from devlint.runtime.derive.probed_callable import ProbedCallable, probe_callable
from devlint.semantics.argument_conditions import parse_conditions
from devlint.semantics.table import Row, Table


def _any_name(name: str) -> bool:
    """Return True for every function name: the default filter, by which a comparison covers all names."""
    return True


@dataclass(slots=True)
class Tally:
    """A count of probe calls of torch, with a description of each in which torch and the semantics table disagree."""

    probes: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return the share, from 0 to 1, of the counted probe calls in which torch and the semantics table agree."""
        return 1 - len(self.misses) / max(self.probes, 1)

    def count(self, miss: str) -> None:
        """Count one probe call.

        ``miss`` describes how torch and the semantics table disagree; it is empty if they agree.
        """
        self.probes += 1
        self.misses += [miss] if miss else []


def probed_callables(chosen: Callable[[str], bool] = _any_name) -> Iterator[tuple[str, ProbedCallable]]:
    """Yield the name and the sample calls of every public torch function and tensor method with a call that runs.

    The sample calls that run on the CPU come as a ProbedCallable. Tensor properties, and names that ``chosen`` refuses,
    are left out.
    """
    for name, function in {**public_names.functions(), **public_names.methods()}.items():
        if public_names.is_property(function) or not chosen(name):
            continue
        overloads = overloads_of(name, function)
        studied = probe_callable(
            overloads, ((public_names.current_object(name), call) for call in sample_calls.calls(name))
        )
        if studied.probed_calls:
            yield name, studied


def row_accepts(row: Row, places: Places, ranks: dict[str, int]) -> bool:
    """Return whether a callable accepts operands on these devices and of these ranks, by its semantics-table row."""
    named = {operand: parameter_of(operand) for operand in places}
    if any(n in row.host and places[o] == ACCELERATOR for o, n in named.items()):
        return False
    group = [o for o, n in named.items() if n in row.same]
    where = {places[o] for o in group}
    if len(where) > 1:
        strays = [o for o in group if places[o] == HOST]
        if row.scalars == "alone" and not any(ranks[o] for o in group):
            return True
        if any(ranks[o] > 0 or named[o] in row.mutates for o in strays):
            return False
        if isinstance(row.scalars, str) and row.scalars.startswith("only:"):
            return {f"only:{named[o]}" for o in strays} == {row.scalars}
        if row.scalars == "alone" or (row.scalars != "many" and len(strays) > int(row.scalars)):
            return False
    return not (where == {HOST} and any(n in row.index and places[o] == ACCELERATOR for o, n in named.items()))


def compare_device_flips(table: Table, chosen: Callable[[str], bool] = _any_name) -> Tally:
    """Compare, for each callable, the operands that may be on the host according to the semantics table and to torch.

    Torch is asked by calls with some operands on the host and the others on an accelerator. Returns the tally.
    """
    tally = Tally()
    for name, row, flip in _flips_with_rows(table, chosen):
        result = flip.result()
        if not result.failed_for_other_reason:
            compare_flip(tally, name, row, flip, result.error)
    return tally


def compare_with_fake_tensors(table: Table, chosen: Callable[[str], bool] = _any_name) -> Tally:
    """Compare, for each callable, the operands that may be on the host by the semantics table and by FakeTensorMode.

    FakeTensorMode is torch's mode that runs calls on tensors without data. Returns the tally.
    """
    with probe_accelerator():
        found = list(_flips_with_rows(table, chosen))
    tally = Tally()
    for name, row, flip in found:
        verdict = fake_tensors.fake_tensors_accept(flip)
        if verdict is not None:
            compare_flip(tally, name, row, flip, "" if verdict else "no")
    return tally


def _flips_with_rows(table: Table, chosen: Callable[[str], bool]) -> Iterator[tuple[str, Row, DeviceFlip]]:
    """Yield (name, semantics-table row, device flip) for the callables whose names ``chosen`` accepts.

    A device flip is a sample call with some operands on the host and the others on an accelerator; repetitions are left
    out. Callables whose row is missing, or does not predict operand devices, are left out too.
    """
    for name, studied in probed_callables(chosen):
        row = table.find(name)
        if row is not None and row.tensors and not row.special and not row.factory:
            yield from ((name, row, flip) for flip in distinct_flips(flips(studied)))


def compare_flip(tally: Tally, name: str, row: Row, flip: DeviceFlip, error: str) -> None:
    """Compare whether a semantics-table row and torch accept the devices of the operands in one sample call.

    ``error`` is the message with which torch refused the call; it is empty if the call ran. The outcome is added to
    ``tally``.
    """
    expected = row_accepts(row, flip.places, flip.ranks)
    verdict = "accepts" if expected else "rejects"
    tally.count(f"{name}({flip}): table {verdict}, torch says {error or 'ok'}" if expected == bool(error) else "")


def distinct_flips(found: Iterable[DeviceFlip]) -> list[DeviceFlip]:
    """Return the device flips without repetitions: one for each combination of operand devices and operand ranks.

    A device flip is a sample call with some operands on the host and the others on an accelerator.
    """
    return list({str((sorted(f.places.items()), sorted(f.ranks.items()))): f for f in found}.values())


def compare_waits(table: Table, chosen: Callable[[str], bool] = _any_name) -> Tally:
    """Compare the calls that make the host wait for a CUDA device by the semantics table and by CUDA's own warnings.

    Needs a real CUDA device. Returns a tally that counts each callable once.
    """
    tally = Tally()
    for name, studied in _rows_with_known_waits(table, chosen):
        waited = [
            alarm
            for probed, given in placeable_calls(studied)
            if (alarm := wait_cells.triggers_sync_warning(probed, given)) is not None
        ]
        if not waited:
            continue
        tally.probes += 1
        sync = _row_sync(table, name)
        if (sync == "always") != all(waited):
            tally.misses.append(f"{name}: table {sync or 'never'}, torch waits in {sum(waited)} of {len(waited)} calls")
    return tally


def compare_wait_detectors(table: Table, chosen: Callable[[str], bool] = _any_name) -> Tally:
    """Compare two detectors of host waits in the same calls: CUDA's warnings and the counts of torch's profiler.

    The semantics table only chooses the callables. The comparison shows which waits CUDA does not warn of. Returns the
    tally.
    """
    tally = Tally()
    for name, studied in _rows_with_known_waits(table, chosen):
        for probed, given in placeable_calls(studied):
            alarm = wait_cells.triggers_sync_warning(probed, given)
            if alarm is None:
                continue
            tally.probes += 1
            count = wait_cells.profiled_wait_count(probed, given)
            if alarm != (count > 0):
                told = "is silent" if not alarm else "sounds"
                tally.misses.append(f"{name}: the alarm {told}, the profiler counts {count}")
    return tally


def _rows_with_known_waits(table: Table, chosen: Callable[[str], bool]) -> Iterator[tuple[str, ProbedCallable]]:
    """Yield (name, probed callable) for the callables whose semantics-table row predicts waits for all arguments.

    Such a row says that every call makes the host wait for the device, or that none does. The probed callable holds the
    sample calls that run on the CPU.
    """
    for name, studied in probed_callables(chosen):
        row = table.find(name)
        if row is not None and row.tensors and not (row.special or row.factory or row.sync.startswith("unless")):
            yield name, studied


def _row_sync(table: Table, name: str) -> str:
    """Return the cell ``sync`` of a callable's semantics-table row: when its call makes the host wait for the device.

    The text is empty if the row predicts no wait, or if the table has no row for the name.
    """
    row = table.find(name)
    return row.sync if row is not None else ""


def compare_result_dtypes(table: Table, chosen: Callable[[str], bool] = _any_name, device: str = "cpu") -> Tally:
    """Compare the result dtypes that the semantics table predicts with those of calls with operands of many dtypes.

    Callables whose table row has no dtype rule are skipped. Returns the tally of the compared results.
    """
    tally = Tally()
    for name, studied in probed_callables(chosen):
        row = table.find(name)
        if row is None or row.special or row.dtype == "unknown":
            continue
        for outcome in studied.varied_results(device):
            compare_dtypes(tally, name, row, outcome)
    return tally


def condition_holds(condition: str, given: Set[str]) -> bool:
    """Return whether a condition in a semantics-table row, such as ``dim+!out``, holds for a call.

    ``given`` are the names of the call's arguments. The condition ``dim+!out`` holds if ``dim`` is given and ``out`` is
    not.
    """
    return all((demand.name in given) is not demand.absent for demand in parse_conditions(condition))


def compare_dtypes(tally: Tally, name: str, row: Row, outcome: ProbeResult) -> None:
    """Compare the result dtypes that a semantics-table row predicts with those of one call of the callable ``name``.

    The outcome is added to ``tally``.
    """
    given, asked_for = outcome.given(), outcome.bound.get("dtype")
    stated = next((rule for condition, rule in row.dtype_if.items() if condition_holds(condition, given)), row.dtype)
    rules = (stated,) * len(outcome.tensors) if isinstance(stated, str) else stated
    for rule, result in zip(rules, outcome.tensors, strict=False):
        if rule == "unknown" or rule.startswith("literal:"):
            continue
        tally.probes += 1
        expected: Any = asked_for or dtype_cells.predicted_dtype(rule, outcome)
        if expected != result.dtype:
            seen = ", ".join(f"{n}:{d}/{r}d" for n, (d, r) in outcome.before.items())
            tally.misses.append(f"{name}({seen}): table {rule}, torch {result.dtype}")
