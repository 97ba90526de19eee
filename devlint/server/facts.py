"""What is known of the expressions of a text, in words, and where each one stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.domain.device import Known, Symbol
from devlint.domain.placement import How, Leaf, Place, Placement, is_unknown, leaves
from devlint.domain.value import Array, Batch, DeviceValue, Tensor, Value
from devlint.explain.device_texts import when_text
from devlint.explain.value_descriptions import describe, describe_placement
from devlint.server.sights import Sight, Sights
from devlint.syntax.code_regions import CodeRegions
from devlint.syntax.index import Statement
from devlint.syntax.source import SourceError

HOW: Final = {
    How.EXPLICIT: "written out",
    How.DEFAULT: "by default",
    How.CALLER: "the caller's choice",
    How.ASSUMED: "assumed",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something has its device from: a place in a statement, and what happened there."""

    device: str
    how: str
    message: str = ""
    filename: str = ""
    unit: Statement | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Account:
    """One value in words. `short` is what a hint has room for, '' where there is nothing to say; `decided` tells that
    what stands there made or moved it."""

    text: str
    short: str
    generic: bool
    origins: tuple[Origin, ...]
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of the code between two offsets, counted from the beginning of its statement."""

    start: int
    end: int
    code: str
    accounts: tuple[Account, ...]
    bound: bool

    @property
    def best(self) -> tuple[Account, ...]:
        """The accounts that tell most: of the program as it runs, where there are any."""
        as_it_runs = tuple(one for one in self.accounts if not one.generic and one.short)
        return as_it_runs or tuple(one for one in self.accounts if one.short) or self.accounts


class Gauge:
    """Finds where nodes stand in their statements; each statement is measured once, as long as it lives."""

    def __init__(self) -> None:
        self._measured: dict[Statement, CodeRegions | None] = {}

    def span(self, unit: Statement, node: cst.CSTNode) -> tuple[int, int] | None:
        """The offsets in the statement at which a node starts and ends."""
        if unit not in self._measured:
            try:
                self._measured[unit] = CodeRegions(unit.module, unit.text)
            except SourceError:
                self._measured[unit] = None
        regions = self._measured[unit]
        return regions.exactly(node) if regions is not None else None

    def forget(self, kept: Iterable[Statement]) -> None:
        """Only these statements are still there."""
        living = set(kept)
        for unit in self._measured.keys() - living:
            del self._measured[unit]


class Scribe:
    """Puts sights into words."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge

    def facts(self, unit: Statement, sights: Sights) -> tuple[Fact, ...]:
        """The facts about the expressions of a statement, in the order of the text."""
        found = (self._fact(unit, node, seen) for node, seen in sights.items())
        return tuple(sorted((one for one in found if one is not None), key=lambda one: (one.start, -one.end)))

    def _fact(self, unit: Statement, node: cst.CSTNode, sights: Iterable[Sight]) -> Fact | None:
        span = self._gauge.span(unit, node)
        if span is None:
            return None
        code = " ".join(unit.text[span[0] : span[1]].split())
        accounts = dict.fromkeys(self._account(unit, span, code, one) for one in sights)
        return Fact(*span, code, tuple(accounts), any(one.bound for one in sights))

    def _account(self, unit: Statement, span: tuple[int, int], code: str, sight: Sight) -> Account:
        value = sight.value
        placement = _placement(value)
        origins = tuple(self._origins(placement)) if placement is not None else ()
        text = describe(value)
        decided = any(one.unit is unit and _follows(unit, span, one) for one in origins)
        short = _short(value, code)
        return Account(f"module, {text}" if sight.module else text, short, sight.generic, origins, decided)

    def _origins(self, placement: Placement) -> Iterator[Origin]:
        for facts, leaf in leaves(placement):
            if is_unknown(leaf):
                continue
            device = describe_placement(leaf) + when_text(facts)
            cause = leaf.cause
            if cause is None:
                yield Origin(device, HOW[leaf.how])
            else:
                offset = self._offset(cause.place)
                yield Origin(device, HOW[leaf.how], cause.message, cause.place.filename, *offset)

    def _offset(self, place: Place) -> tuple[Statement | None, int]:
        unit, node = place.unit, place.node
        if not isinstance(unit, Statement) or not isinstance(node, cst.CSTNode):
            return None, 0
        span = self._gauge.span(unit, node)
        return (unit, span[0]) if span is not None else (None, 0)


def _follows(unit: Statement, span: tuple[int, int], origin: Origin) -> bool:
    """Whether what happened stands behind a target, on the line of the target."""
    return span[0] <= origin.offset and "\n" not in unit.text[span[1] : origin.offset]


def _placement(value: Value) -> Placement | None:
    match value:
        case Tensor(placement=placement) | Batch(placement=placement) | DeviceValue(placement=placement):
            return placement
    return None


def _short(value: Value, code: str) -> str:
    """A value in the few words that a hint has room for; '' where nothing but its own name is known."""
    placement = _placement(value)
    words = []
    if placement is not None and _is_telling(placement, code):
        words.append(describe_placement(placement))
    if isinstance(value, (Tensor, Array)) and value.dtype.name:
        words.append(value.dtype.name if isinstance(value, Tensor) else f"array {value.dtype.name}")
    return " ".join(words)


def _is_telling(placement: Placement, code: str) -> bool:
    """Whether a device is known by more than the name of what it is the device of."""
    if not isinstance(placement, Leaf):
        return True
    match placement.device:
        case Known():
            return True
        case Symbol(text=text):
            return text.strip("`") not in (code, f"{code}.device")
    return False
