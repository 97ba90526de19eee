"""Recording of the values that expressions have during an analysis, for hover texts and inlay hints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.domain.placement import is_unknown_placement
from devlint.domain.value import Array, ConditionalValue, DeviceValue, DtypeValue, OpaqueData, Ref, Tensor, Tuple, Value
from devlint.interpreter.objects.module_state import is_module, module_tensors
from devlint.interpreter.state.frame import Frame
from devlint.syntax.index import Statement

MAX_VALUES: Final = 6
"""The largest number of different values that are kept for one expression."""

REPORTED_TYPES: Final = frozenset({Tensor, Array, OpaqueData, DeviceValue, DtypeValue, Tuple, ConditionalValue})
"""The types of values that have a placement or a dtype to show."""


@dataclass(frozen=True, slots=True)
class ObservedValue:
    """One value that the analysis has recorded for an expression, or for an assignment target (`is_target`).

    For an `nn.Module` (`is_module`) the value is the module's first parameter with a known placement or dtype.
    `symbolic` values were computed from arguments of unknown value: in a function that was analysed without a known
    caller.
    """

    value: Value
    symbolic: bool
    is_module: bool = False
    is_target: bool = False


ObservedValues = Mapping[cst.CSTNode, Collection[ObservedValue]]
"""The different values of each expression of a statement."""


class ValueObserver:
    """An observer of the interpreter that records the values of expressions in a given set of top-level statements."""

    def __init__(self, statements: Collection[Statement]) -> None:
        self._statements = frozenset(statements)
        self._observed: dict[Statement, dict[cst.CSTNode, list[ObservedValue]]] = defaultdict(dict)

    def take(self) -> Mapping[Statement, ObservedValues]:
        """Return the values recorded since the last call of this method, by top-level statement, and forget them."""
        observed, self._observed = self._observed, defaultdict(dict)
        return observed

    def see(self, run: Frame, node: cst.CSTNode, value: Value) -> None:
        """Record the value to which the interpreter has evaluated an expression."""
        if value.__class__ in REPORTED_TYPES and run.unit in self._statements:
            self._record(run, node, value, is_target=False)
        elif value.__class__ is Ref and node.__class__ in (cst.Name, cst.Attribute) and run.unit in self._statements:
            self._record_module(run, node, value, is_target=False)

    def bind(self, run: Frame, node: cst.CSTNode, value: Value) -> None:
        """Record the value that the program assigns to an assignment target."""
        if run.unit not in self._statements or node.__class__ not in (cst.Name, cst.Attribute):
            return
        if value.__class__ in REPORTED_TYPES:
            self._record(run, node, value, is_target=True)
        elif value.__class__ is Ref:
            self._record_module(run, node, value, is_target=True)

    def _record(self, run: Frame, node: cst.CSTNode, value: Value, *, is_target: bool, is_module: bool = False) -> None:
        """Record a value of an expression, unless it is recorded already or the expression has too many values."""
        values = self._observed[run.unit].setdefault(node, [])
        if len(values) < MAX_VALUES:
            if isinstance(value, Tensor):
                value = run.resolve(value)
            observed_value = ObservedValue(value, run.analysis.symbolic, is_module, is_target)
            if observed_value not in values:
                values.append(observed_value)

    def _record_module(self, run: Frame, node: cst.CSTNode, value: Value, *, is_target: bool) -> None:
        """Record, as the value of an `nn.Module`, the module's first parameter if its device or dtype is known.

        Nothing is recorded for the name `self`.
        """
        if isinstance(node, cst.Name) and node.value == "self":
            return
        if not is_module(run, value):
            return
        for _, tensor in module_tensors(run, value):
            tensor = run.resolve(tensor)
            if not (is_unknown_placement(tensor.placement) and tensor.dtype.name is None):
                self._record(run, node, tensor, is_target=is_target, is_module=True)
            return
