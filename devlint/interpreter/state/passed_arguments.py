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


class CallPlace(NamedTuple):
    """The place of a call: the file and the syntax node."""

    filename: str
    node: Hashable


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


class PassedArguments:
    """The record of what calls pass for the parameters of the program's functions."""

    def __init__(self) -> None:
        self._sites: defaultdict[ParameterOf, dict[CallPlace, Sources]] = defaultdict(dict)
        self._recorded: defaultdict[ParameterOf, dict[CallPlace, Sources]] = defaultdict(dict)

    def add(self, parameter: ParameterOf, call: CallPlace, sources: Sources) -> None:
        """Record what a call passes for a parameter; the same call may run several times."""
        for record in (self._sites[parameter], self._recorded[parameter]):
            known = record.get(call, FROM_HOST)
            record[call] = None if known is None or sources is None else known | sources

    def may_be_from_host(self, parameter: ParameterOf, call: CallPlace) -> bool:
        """Return whether a call has passed nothing for a parameter so far, or only what is on the host."""
        return self._recorded[parameter].get(call, FROM_HOST) is not None

    def take_recorded(self) -> Mapping[ParameterOf, Mapping[CallPlace, Sources]]:
        """Return what was recorded since the last call of this method."""
        taken, self._recorded = self._recorded, defaultdict(dict)
        return taken

    def from_host(self) -> Iterator[tuple[ParameterOf, str, int, Collection[ParameterOf]]]:
        """Yield each parameter with a file, the number of calls there, and the parameters that they pass on.

        A file is left out where a call in it may pass anything.
        """
        for parameter, calls in self._sites.items():
            by_file: defaultdict[str, list[Sources]] = defaultdict(list)
            for call, sources in calls.items():
                by_file[call.filename].append(sources)
            for filename, passed in by_file.items():
                known = [one for one in passed if one is not None]
                if len(known) == len(passed):
                    yield parameter, filename, len(known), FROM_HOST.union(*known)
