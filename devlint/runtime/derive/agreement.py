"""Comparison of the table's predictions with torch: devices on an accelerator, and result dtypes on the CPU."""

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
    """Return True, to choose every name."""
    return True


@dataclass(slots=True)
class Tally:
    """The number of probes, and the probes in which table and torch disagree."""

    probes: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return the share of probes that agree."""
        return 1 - len(self.misses) / max(self.probes, 1)

    def count(self, miss: str) -> None:
        """Count a probe; a non-empty text describes a disagreement."""
        self.probes += 1
        self.misses += [miss] if miss else []


def probed_callables(chosen: Callable[[str], bool] = _any_name) -> Iterator[tuple[str, ProbedCallable]]:
    """Yield every function and method in the table that has sample calls which run on the CPU."""
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
    """Return whether a table row lets operands on these devices meet in one call."""
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
    """Compare which operands the table and an accelerator allow on the host."""
    tally = Tally()
    for name, row, flip in _flips(table, chosen):
        result = flip.result()
        if not result.failed_for_other_reason:
            compare_flip(tally, name, row, flip, result.error)
    return tally


def compare_with_fake_tensors(table: Table, chosen: Callable[[str], bool] = _any_name) -> Tally:
    """Compare which operands the table and FakeTensorMode allow on the host."""
    with probe_accelerator():
        found = list(_flips(table, chosen))
    tally = Tally()
    for name, row, flip in found:
        verdict = fake_tensors.fake_tensors_accept(flip)
        if verdict is not None:
            compare_flip(tally, name, row, flip, "" if verdict else "no")
    return tally


def _flips(table: Table, chosen: Callable[[str], bool]) -> Iterator[tuple[str, Row, DeviceFlip]]:
    """Yield the distinct device flips of the chosen names, with their table rows."""
    for name, studied in probed_callables(chosen):
        row = table.find(name)
        if row is not None and row.tensors and not row.special and not row.factory:
            yield from ((name, row, flip) for flip in distinct_flips(flips(studied)))


def compare_flip(tally: Tally, name: str, row: Row, flip: DeviceFlip, error: str) -> None:
    """Compare a table row's prediction for a device flip with the call's error, which is empty on success."""
    expected = row_accepts(row, flip.places, flip.ranks)
    verdict = "accepts" if expected else "rejects"
    tally.count(f"{name}({flip}): table {verdict}, torch says {error or 'ok'}" if expected == bool(error) else "")


def distinct_flips(found: Iterable[DeviceFlip]) -> list[DeviceFlip]:
    """Return one device flip for each combination of operand devices and ranks."""
    return list({str((sorted(f.places.items()), sorted(f.ranks.items()))): f for f in found}.values())


def compare_waits(table: Table, chosen: Callable[[str], bool] = _any_name) -> Tally:
    """Compare the table's predictions of host waits with CUDA's own warnings, on a real device."""
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
    """Compare CUDA's warnings about waits with the profiler's counts, because CUDA does not warn of every wait."""
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
    """Yield the names whose rows say whether every call waits, with their probed callables."""
    for name, studied in probed_callables(chosen):
        row = table.find(name)
        if row is not None and row.tensors and not (row.special or row.factory or row.sync.startswith("unless")):
            yield name, studied


def _row_sync(table: Table, name: str) -> str:
    """Return what the table says about host waits for a name; empty if it predicts none."""
    row = table.find(name)
    return row.sync if row is not None else ""


def compare_result_dtypes(table: Table, chosen: Callable[[str], bool] = _any_name, device: str = "cpu") -> Tally:
    """Cast operands, and compare the result dtypes with the table's rules; rows without a rule are skipped."""
    tally = Tally()
    for name, studied in probed_callables(chosen):
        row = table.find(name)
        if row is None or row.special or row.dtype == "unknown":
            continue
        for outcome in studied.varied_results(device):
            compare_dtypes(tally, name, row, outcome)
    return tally


def condition_holds(condition: str, given: Set[str]) -> bool:
    """Return whether a condition in a table row holds for a call with these arguments."""
    return all((demand.name in given) is not demand.absent for demand in parse_conditions(condition))


def compare_dtypes(tally: Tally, name: str, row: Row, outcome: ProbeResult) -> None:
    """Compare a table row's dtype rules with the result dtypes of one call."""
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
