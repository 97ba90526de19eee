"""What the calls of the program's functions pass from the host, parameter by parameter and call by call.

A finding that supposes a caller's tensor on an accelerator is in doubt where every call of the program passes one that
is on the host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from devlint.interpreter.program.definitions import FunctionInfo


class ParameterOf(NamedTuple):
    """A parameter of a function: the file that defines the function, the function's name, and its own."""

    filename: str
    function: str
    name: str


Sources: TypeAlias = "frozenset[ParameterOf] | None"
"""The parameters whose values a call passes on, besides what is on the host; None where it may pass anything."""

FROM_HOST: Final[frozenset[ParameterOf]] = frozenset()
"""What a call passes that is on the host, or no tensor at all."""


def parameter_of(info: FunctionInfo, name: str) -> ParameterOf:
    """Return the key of a parameter of a function."""
    return ParameterOf(info.module.filename, info.name, name)


def root_parameter(origin: Hashable) -> ParameterOf | None:
    """Return the parameter of which an origin names the value or a part; None for the origin of anything else."""
    while isinstance(origin, tuple) and origin and origin[0] in ("attr", "item", "element"):
        origin = origin[1]
    match origin:
        case ("param", FunctionInfo() as info, str(name)):
            return parameter_of(info, name)
    return None


class PassedByCall(NamedTuple):
    """What a call in a file passes, by the names of the parameters."""

    filename: str
    sources: dict[str, Sources]


CallRecords: TypeAlias = "defaultdict[FunctionInfo, dict[Hashable, PassedByCall]]"
"""What calls pass, by the function that they call and the syntax node of the call."""


class PassedArguments:
    """The record of what calls pass for the parameters of the program's functions."""

    def __init__(self) -> None:
        self._calls: CallRecords = defaultdict(dict)
        self._recorded: CallRecords = defaultdict(dict)

    def of_call(self, info: FunctionInfo, filename: str, node: Hashable) -> dict[str, Sources]:
        """Return the record of a call, which the caller of this method extends; the same call may run several times."""
        calls = self._recorded[info]
        known = calls.get(node)
        if known is None:
            known = calls[node] = PassedByCall(filename, {})
        return known.sources

    def add(self, records: Mapping[FunctionInfo, Mapping[Hashable, PassedByCall]]) -> None:
        """Add what was recorded earlier."""
        for info, calls in records.items():
            for node, passed in calls.items():
                known = self.of_call(info, passed.filename, node)
                for name, sources in passed.sources.items():
                    known[name] = either(known.get(name, FROM_HOST), sources)

    def take_recorded(self) -> CallRecords:
        """Return what was recorded since the last call of this method."""
        taken, self._recorded = self._recorded, self._calls
        self.add(taken)
        self._calls, self._recorded = self._recorded, defaultdict(dict)
        return taken

    def from_host(self) -> Iterator[tuple[ParameterOf, str, int, Collection[ParameterOf]]]:
        """Yield each parameter with a file, the number of calls there, and the parameters that they pass on.

        A file is left out where a call in it may pass anything.
        """
        self.take_recorded()
        for info, calls in self._calls.items():
            found: defaultdict[tuple[str, str], list[Sources]] = defaultdict(list)
            for passed in calls.values():
                for name, sources in passed.sources.items():
                    found[name, passed.filename].append(sources)
            for (name, filename), each in found.items():
                known = [one for one in each if one is not None]
                if len(known) == len(each):
                    yield parameter_of(info, name), filename, len(known), FROM_HOST.union(*known)


def either(one: Sources, other: Sources) -> Sources:
    """Return what a call passes that passes either of two things."""
    return None if one is None or other is None else one | other
