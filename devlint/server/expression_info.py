"""Descriptions in words of the values that expressions have, for the editor's hover texts and inlay hints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.domain.device import DeviceSymbol, KnownDevice
from devlint.domain.placement import Basis, Place, Placement, PlacementCase, is_unknown_placement, placement_cases
from devlint.domain.value import Array, DeviceValue, OpaqueData, Tensor, Value
from devlint.explain.device_texts import condition_text
from devlint.explain.value_descriptions import describe_placement, describe_value
from devlint.server.observed_values import ObservedValue, ObservedValues
from devlint.syntax.code_regions import CodeRegions
from devlint.syntax.index import Statement
from devlint.syntax.source import SourceError

BASIS_TEXT: Final = {
    Basis.EXPLICIT: "written out",
    Basis.DEFAULT: "by default",
    Basis.CALLER: "the caller's choice",
    Basis.ASSUMED: "assumed",
}
"""How a placement is known, in words."""


@dataclass(frozen=True, slots=True)
class DeviceOrigin:
    """The source location where a tensor was created on its device or moved to it, and what happened there.

    `unit` is the top-level statement that contains the location, and `offset` counts from the start of that statement.
    `basis` says in words how the device is known, such as "by default".
    """

    device: str
    basis: str
    message: str = ""
    filename: str = ""
    unit: Statement | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ValueDescription:
    """A description in words of one value that an expression has during the analysis.

    `short` is the text for an inlay hint, or "" if nothing useful is known. `symbolic` is True if the value depends on
    arguments that are not known. `placed_here` is True if the code that assigns the value also put it on its device.
    """

    text: str
    short: str
    symbolic: bool
    origins: tuple[DeviceOrigin, ...]
    placed_here: bool = False


@dataclass(frozen=True, slots=True)
class ExpressionInfo:
    """The description of an expression: its code, its values, and its offsets from the start of its statement."""

    start: int
    end: int
    code: str
    values: tuple[ValueDescription, ...]
    is_target: bool

    @property
    def best_values(self) -> tuple[ValueDescription, ...]:
        """The descriptions of the most informative values of the expression.

        Values computed when the program runs from its top-level code are preferred to symbolic values, which depend on
        arguments of unknown value. Values with a text for an inlay hint are preferred to values without one.
        """
        as_it_runs = tuple(one for one in self.values if not one.symbolic and one.short)
        return as_it_runs or tuple(one for one in self.values if one.short) or self.values


class NodeSpans:
    """A cache of the offsets of syntax nodes in their top-level statements, computed once for each statement."""

    def __init__(self) -> None:
        self._measured: dict[Statement, CodeRegions | None] = {}

    def span(self, unit: Statement, node: cst.CSTNode) -> tuple[int, int] | None:
        """Return the start and end offsets of a syntax node in its statement, or None if they cannot be computed."""
        if unit not in self._measured:
            try:
                self._measured[unit] = CodeRegions(unit.module, unit.text)
            except SourceError:
                self._measured[unit] = None
        regions = self._measured[unit]
        return regions.exactly(node) if regions is not None else None

    def keep_only(self, kept: Iterable[Statement]) -> None:
        """Drop the cached offsets of all top-level statements except the given ones."""
        existing = set(kept)
        for unit in self._measured.keys() - existing:
            del self._measured[unit]


class ExpressionDescriber:
    """A converter of the values that the analysis has recorded for expressions into descriptions in words."""

    def __init__(self, spans: NodeSpans) -> None:
        self._spans = spans

    def describe(self, unit: Statement, observed: ObservedValues) -> tuple[ExpressionInfo, ...]:
        """Return descriptions of the expressions in a top-level statement, in the order of the source code."""
        found = (self._describe_expression(unit, node, seen) for node, seen in observed.items())
        return tuple(sorted((one for one in found if one is not None), key=lambda one: (one.start, -one.end)))

    def _describe_expression(
        self, unit: Statement, node: cst.CSTNode, observed: Iterable[ObservedValue]
    ) -> ExpressionInfo | None:
        """Return the description of one expression and its recorded values, or None if its offsets are unknown."""
        span = self._spans.span(unit, node)
        if span is None:
            return None
        code = " ".join(unit.text[span[0] : span[1]].split())
        values = dict.fromkeys(self._describe(unit, span, code, one) for one in observed)
        return ExpressionInfo(*span, code, tuple(values), any(one.is_target for one in observed))

    def _describe(self, unit: Statement, span: tuple[int, int], code: str, observed: ObservedValue) -> ValueDescription:
        """Return the description of one recorded value of the expression at `span` of a top-level statement."""
        value = observed.value
        placement = _placement(value)
        origins = tuple(self._origins(placement)) if placement is not None else ()
        text = describe_value(value, conditions=False)
        placed_here = any(one.unit is unit and _is_after_on_line(unit, span, one) for one in origins)
        short = _short_text(value, code)
        return ValueDescription(
            f"module, {text}" if observed.is_module else text, short, observed.symbolic, origins, placed_here
        )

    def _origins(self, placement: Placement) -> Iterator[DeviceOrigin]:
        """Yield where a tensor's device comes from: one origin for each case of a device that depends on conditions."""
        for facts, leaf in placement_cases(placement):
            if is_unknown_placement(leaf):
                continue
            device = describe_placement(leaf) + condition_text(facts)
            cause = leaf.placing_step
            if cause is None:
                yield DeviceOrigin(device, BASIS_TEXT[leaf.basis])
            else:
                offset = self._offset(cause.place)
                yield DeviceOrigin(device, BASIS_TEXT[leaf.basis], cause.message, cause.place.filename, *offset)

    def _offset(self, place: Place) -> tuple[Statement | None, int]:
        """Return the top-level statement that contains a source location, and the location's offset in that statement.

        Return (None, 0) if either is unknown.
        """
        unit, node = place.unit, place.node
        if not isinstance(unit, Statement) or not isinstance(node, cst.CSTNode):
            return None, 0
        span = self._spans.span(unit, node)
        return (unit, span[0]) if span is not None else (None, 0)


def _is_after_on_line(unit: Statement, span: tuple[int, int], origin: DeviceOrigin) -> bool:
    """Return whether a device origin stands on the line of an assignment target, at the target or to its right."""
    return span[0] <= origin.offset and "\n" not in unit.text[span[1] : origin.offset]


def _placement(value: Value) -> Placement | None:
    """Return the placement (the device as devlint knows it) of a value, or None for a value without one."""
    match value:
        case Tensor(placement=placement) | OpaqueData(placement=placement) | DeviceValue(placement=placement):
            return placement
    return None


def _short_text(value: Value, code: str) -> str:
    """Return the device and dtype of a value as text for an inlay hint, or "" if neither is worth showing.

    A device is not worth showing if it is known only as that of the expression itself.
    """
    placement = _placement(value)
    words = []
    if placement is not None and _is_informative(placement, code):
        words.append(describe_placement(placement, conditions=False))
    if isinstance(value, (Tensor, Array)) and value.dtype.name:
        words.append(value.dtype.name if isinstance(value, Tensor) else f"array {value.dtype.name}")
    return " ".join(words)


def _is_informative(placement: Placement, code: str) -> bool:
    """Return whether the device of a value is known as more than "the device of `x`" for the expression `x` itself."""
    if not isinstance(placement, PlacementCase):
        return True
    match placement.device:
        case KnownDevice():
            return True
        case DeviceSymbol(text=text):
            return text.strip("`") not in (code, f"{code}.device")
    return False
