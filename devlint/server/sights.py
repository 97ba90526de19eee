"""What expressions were seen to be worth while the program was analysed, kept for those who ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.domain.placement import is_unknown
from devlint.domain.value import Array, Batch, DeviceValue, DtypeValue, Either, Ref, Tensor, Tuple, Value
from devlint.interpreter.objects.module_state import is_module, tensors_of
from devlint.interpreter.state.frame import Run
from devlint.syntax.index import Statement

MAX_SIGHTS: Final = 6
"""Different values of one expression that are kept: nobody reads more."""

TELLING: Final = frozenset({Tensor, Array, Batch, DeviceValue, DtypeValue, Tuple, Either})
"""Kinds of values of which there is a placement or a dtype to tell."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One value of an expression: of a module its first parameter. `generic` code is run with arguments that nobody
    knows; what is `bound` is given to what stands there."""

    value: Value
    generic: bool
    module: bool = False
    bound: bool = False


Sights = Mapping[cst.CSTNode, Collection[Sight]]


class Recorder:
    """Keeps what it is shown of some statements, until it is taken."""

    def __init__(self, units: Collection[Statement]) -> None:
        self._units = frozenset(units)
        self._seen: dict[Statement, dict[cst.CSTNode, list[Sight]]] = defaultdict(dict)

    def taken(self) -> Mapping[Statement, Sights]:
        """What has been seen since the last time."""
        seen, self._seen = self._seen, defaultdict(dict)
        return seen

    def see(self, run: Run, node: cst.CSTNode, value: Value) -> None:
        """An expression was evaluated."""
        if value.__class__ in TELLING and run.unit in self._units:
            self._keep(run, node, value, bound=False)
        elif value.__class__ is Ref and node.__class__ in (cst.Name, cst.Attribute) and run.unit in self._units:
            self._keep_module(run, node, value, bound=False)

    def bind(self, run: Run, node: cst.CSTNode, value: Value) -> None:
        """A target was given a value."""
        if run.unit not in self._units or node.__class__ not in (cst.Name, cst.Attribute):
            return
        if value.__class__ in TELLING:
            self._keep(run, node, value, bound=True)
        elif value.__class__ is Ref:
            self._keep_module(run, node, value, bound=True)

    def _keep(self, run: Run, node: cst.CSTNode, value: Value, *, bound: bool, module: bool = False) -> None:
        sights = self._seen[run.unit].setdefault(node, [])
        if len(sights) < MAX_SIGHTS:
            if isinstance(value, Tensor):
                value = run.settle(value)
            sight = Sight(value, run.engine.symbolic, module, bound)
            if sight not in sights:
                sights.append(sight)

    def _keep_module(self, run: Run, node: cst.CSTNode, value: Value, *, bound: bool) -> None:
        if isinstance(node, cst.Name) and node.value == "self":
            return
        if not is_module(run, value):
            return
        for _, tensor in tensors_of(run, value):
            tensor = run.settle(tensor)
            if not (is_unknown(tensor.placement) and tensor.dtype.name is None):
                self._keep(run, node, tensor, bound=bound, module=True)
            return
