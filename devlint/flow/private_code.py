"""The private functions and classes of a file: only the file itself calls them, so what its calls hand over tells
where they run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from devlint.flow.code.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.flow.nn.lifecycle import placement_of_module
from devlint.values.device import is_host
from devlint.values.placement import UNKNOWN_PLACEMENT, Placement, is_unknown, leaves
from devlint.values.value import Tensor, Value

if TYPE_CHECKING:
    from devlint.flow.path.run import Run
    from devlint.syntax.index import Statement


def is_private(name: str) -> bool:
    """Whether a name is for the use of its file or class alone."""
    return name.startswith("_") and not name.endswith("__")


def callers_first(units: Sequence[Statement]) -> list[Statement]:
    """The definitions of a file in an order in which private ones come after those that mention them."""
    private = {unit.name: unit for unit in units if unit.name is not None and is_private(unit.name)}
    met: set[Statement] = set()
    callees_first: list[Statement] = []
    for root in reversed(private.values()):
        pending = [] if root in met else [(root, _mentioned(root, private))]
        while pending:
            unit, others = pending[-1]
            met.add(unit)
            below = next((other for other in others if other not in met), None)
            if below is not None:
                pending.append((below, _mentioned(below, private)))
            else:
                callees_first.append(unit)
                pending.pop()
    return [unit for unit in units if unit.name not in private] + callees_first[::-1]


def _mentioned(unit: Statement, private: Mapping[str, Statement]) -> Iterator[Statement]:
    return iter([private[name] for name in sorted(unit.mentions & private.keys(), reverse=True)])


class HostOnly:
    """Which private code of a file only ever runs on the host, as far as its calls have been run.

    A tensor that every call hands over from the host is none that somebody may have moved; nor is a module that lies
    there in every call.
    """

    def __init__(self, module: ModuleInfo | None = None) -> None:
        self._module = module
        self._calls: dict[tuple[FunctionInfo | ClassInfo, str], bool] = {}
        self._makers: dict[ClassInfo, set[ClassInfo | None]] = defaultdict(set)

    def note(self, run: Run, info: FunctionInfo, names: Mapping[str, Value], receiver: Value | None) -> None:
        """A call of the program's own, with its arguments by the names of the parameters."""
        if info.module is not self._module or not is_private(info.name):
            return
        data = {name: value for name, value in names.items() if value is not receiver}
        for name, value in data.items():
            self._add(run, (info, name), _placement(run, value))
        if receiver is not None and info.owner is not None:
            self._add(run, (info.owner, "self"), _placement_of_receiver(run, receiver, data.values()))

    def made(self, run: Run, info: ClassInfo) -> None:
        """An object of the program's own making."""
        if info.module is self._module and is_private(info.name) and not run.scope.entry:
            self._makers[info].add(run.function.owner if run.function is not None else None)

    def _add(self, run: Run, key: tuple[FunctionInfo | ClassInfo, str], placement: Placement | None) -> None:
        if placement is not None:
            on_host = all(is_host(leaf.device) for _, leaf in leaves(placement, run.state.facts))
            self._calls[key] = on_host and self._calls.get(key, True)

    def takes(self, info: FunctionInfo, name: str) -> bool:
        """Whether the parameter is on the host in every call; the inputs of a module that stays there are."""
        return self._calls.get((info, name), False) or (info.owner is not None and self.keeps(info.owner))

    def keeps(self, info: ClassInfo) -> bool:
        """Whether the modules of a class are on the host in every call of their methods, or are parts of such only."""
        return self._keeps(info, frozenset())

    def _keeps(self, info: ClassInfo | None, asked: frozenset[ClassInfo]) -> bool:
        if info is None or info in asked:
            return False
        makers = self._makers[info]
        called = self._calls.get((info, "self"))
        return (
            called if called is not None else bool(makers) and all(self._keeps(one, asked | {info}) for one in makers)
        )


def _placement(run: Run, value: Value) -> Placement:
    return run.settle(value).placement if isinstance(value, Tensor) else UNKNOWN_PLACEMENT


def _placement_of_receiver(run: Run, receiver: Value, data: Iterable[Value]) -> Placement | None:
    """Where a module is; one of which nothing is known is where its first input is, None if it has none."""
    placement = placement_of_module(run, receiver)
    if not is_unknown(placement):
        return placement
    return next((_placement(run, value) for value in data if isinstance(value, Tensor)), None)
