"""Descriptions of the values of expressions, for hover texts and inlay hints."""

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
    """The place where a tensor was put on its device, and what happened there.

    `unit` is the top-level statement that contains the place, and `offset` counts from the start of that statement.
    `basis` tells how the device is known.
    """

    device: str
    basis: str
    message: str = ""
    filename: str = ""
    unit: Statement | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ValueDescription:
    """One value of an expression in words.

    `short` is the text for an inlay hint, or "" if nothing useful is known. `symbolic` values depend on arguments that
    are not known. `placed_here` tells that the code which assigns the value also put it on its device.
    """

    text: str
    short: str
    symbolic: bool
    origins: tuple[DeviceOrigin, ...]
    placed_here: bool = False


@dataclass(frozen=True, slots=True)
class ExpressionInfo:
    """What is known of an expression: its code, its values, and its offsets from the start of its statement."""

    start: int
    end: int
    code: str
    values: tuple[ValueDescription, ...]
    is_target: bool

    @property
    def best_values(self) -> tuple[ValueDescription, ...]:
        """The most informative values of the expression.

        Values from the program as it runs are preferred to symbolic values, and values with a short text to those
        without.
        """
        as_it_runs = tuple(one for one in self.values if not one.symbolic and one.short)
        return as_it_runs or tuple(one for one in self.values if one.short) or self.values


class NodeSpans:
    """Offsets of syntax nodes in their top-level statements, computed once for each statement and then kept."""

    def __init__(self) -> None:
        self._measured: dict[Statement, CodeRegions | None] = {}

    def span(self, unit: Statement, node: cst.CSTNode) -> tuple[int, int] | None:
        """Return the start and end offsets of a node in its statement, or None if they cannot be computed."""
        if unit not in self._measured:
            try:
                self._measured[unit] = CodeRegions(unit.module, unit.text)
            except SourceError:
                self._measured[unit] = None
        regions = self._measured[unit]
        return regions.exactly(node) if regions is not None else None

    def keep_only(self, kept: Iterable[Statement]) -> None:
        """Drop the offsets of all statements but these."""
        existing = set(kept)
        for unit in self._measured.keys() - existing:
            del self._measured[unit]


class ExpressionDescriber:
    """Turns observed values of expressions into descriptions."""

    def __init__(self, spans: NodeSpans) -> None:
        self._spans = spans

    def describe(self, unit: Statement, observed: ObservedValues) -> tuple[ExpressionInfo, ...]:
        """Return the descriptions of a statement's expressions, in the order of the source code."""
        found = (self._describe_expression(unit, node, seen) for node, seen in observed.items())
        return tuple(sorted((one for one in found if one is not None), key=lambda one: (one.start, -one.end)))

    def _describe_expression(
        self, unit: Statement, node: cst.CSTNode, observed: Iterable[ObservedValue]
    ) -> ExpressionInfo | None:
        """Return the description of one expression, or None if its position is not known."""
        span = self._spans.span(unit, node)
        if span is None:
            return None
        code = " ".join(unit.text[span[0] : span[1]].split())
        values = dict.fromkeys(self._describe(unit, span, code, one) for one in observed)
        return ExpressionInfo(*span, code, tuple(values), any(one.is_target for one in observed))

    def _describe(self, unit: Statement, span: tuple[int, int], code: str, observed: ObservedValue) -> ValueDescription:
        """Return the description of one value of an expression that stands at `span` in a statement."""
        value = observed.value
        placement = _placement(value)
        origins = tuple(self._origins(placement)) if placement is not None else ()
        text = describe_value(value)
        placed_here = any(one.unit is unit and _is_after_on_line(unit, span, one) for one in origins)
        short = _short_text(value, code)
        return ValueDescription(
            f"module, {text}" if observed.is_module else text, short, observed.symbolic, origins, placed_here
        )

    def _origins(self, placement: Placement) -> Iterator[DeviceOrigin]:
        """Yield the origins of a placement, one for each case of a conditional placement."""
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
        """Return the statement that contains a place, and the place's offset in it; (None, 0) if unknown."""
        unit, node = place.unit, place.node
        if not isinstance(unit, Statement) or not isinstance(node, cst.CSTNode):
            return None, 0
        span = self._spans.span(unit, node)
        return (unit, span[0]) if span is not None else (None, 0)


def _is_after_on_line(unit: Statement, span: tuple[int, int], origin: DeviceOrigin) -> bool:
    """Return whether an origin stands on the same line as an assignment target, at or after the target."""
    return span[0] <= origin.offset and "\n" not in unit.text[span[1] : origin.offset]


def _placement(value: Value) -> Placement | None:
    """Return the placement of a value, or None for values without a placement."""
    match value:
        case Tensor(placement=placement) | OpaqueData(placement=placement) | DeviceValue(placement=placement):
            return placement
    return None


def _short_text(value: Value, code: str) -> str:
    """Return a value as text for an inlay hint, or '' if no more than the expression's own name is known."""
    placement = _placement(value)
    words = []
    if placement is not None and _is_informative(placement, code):
        words.append(describe_placement(placement))
    if isinstance(value, (Tensor, Array)) and value.dtype.name:
        words.append(value.dtype.name if isinstance(value, Tensor) else f"array {value.dtype.name}")
    return " ".join(words)


def _is_informative(placement: Placement, code: str) -> bool:
    """Return whether a placement tells more than that an expression is on its own device."""
    if not isinstance(placement, PlacementCase):
        return True
    match placement.device:
        case KnownDevice():
            return True
        case DeviceSymbol(text=text):
            return text.strip("`") not in (code, f"{code}.device")
    return False
