"""The call sites of a file's functions and classes, and which of those are only ever run on the host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from enum import IntEnum
from typing import TypeAlias

from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.program.private_definitions import is_private_name, is_test_file
from devlint.syntax.index import Statement


class HostData(IntEnum):
    """What a call passes from the host on purpose: nothing, a container of tensors, or a tensor."""

    NONE = 0
    CONTAINER = 1
    TENSOR = 2


HostDataKey: TypeAlias = "tuple[Statement, str, str]"
"""A parameter of a function: the top-level statement and the name of the function, and the name of the parameter."""


class PrivateCallSites:
    """The recorded calls of a file's private functions and classes, and whether all of the calls are on the host.

    An unknown caller cannot have moved a tensor that every call passes from the host, nor a module that is on the host
    in every call. Of a public function, it is recorded whether every call passes tensors that are on the host on
    purpose, by `.cpu()` or from a loader: the file has decided then where the function runs.
    """

    def __init__(self, module: ModuleInfo | None = None) -> None:
        self._module = module
        self._host_data: dict[HostDataKey, HostData] = {}
        self.recorded_host_data: dict[HostDataKey, HostData] = {}
        self._calls: dict[tuple[FunctionInfo | ClassInfo, str], bool] = {}
        self._makers: dict[ClassInfo, set[ClassInfo | None]] = defaultdict(set)

    def covers(self, name: str, module: ModuleInfo) -> bool:
        """Return whether a name is that of a private definition of the file whose calls this object records.

        `module` is the module that defines the name. All definitions of a file of tests are private.
        """
        return module is self._module and (is_private_name(name) or is_test_file(module.path))

    def add_call(self, key: tuple[FunctionInfo | ClassInfo, str], *, on_host: bool) -> None:
        """Record whether a call passes a parameter (or, for a class, `self`) from the host or from another device.

        `key` is the function or class, together with the name of the parameter.
        """
        self._calls[key] = on_host and self._calls.get(key, True)

    def records(self, module: ModuleInfo) -> bool:
        """Return whether a module is the file whose calls this object records."""
        return module is self._module

    def may_be_host_data(self, info: FunctionInfo, name: str) -> bool:
        """Return whether every call recorded in this entry so far passes a parameter from the host on purpose."""
        return self.recorded_host_data.get((info.unit, info.name, name)) is not HostData.NONE

    def add_host_data(self, key: HostDataKey, passed: HostData) -> None:
        """Record what a call passes as a parameter of a function from the host on purpose."""
        for records in (self._host_data, self.recorded_host_data):
            known = records.get(key, passed)
            records[key] = passed if passed is known else min(passed, known, HostData.CONTAINER)

    def host_data(self, info: FunctionInfo, name: str) -> HostData:
        """Return what every call passes as a parameter of a function from the host on purpose."""
        return self._host_data.get((info.unit, info.name, name), HostData.NONE)

    def host_data_of(self, unit: Statement) -> frozenset[tuple[HostDataKey, HostData]]:
        """Return what is recorded of the calls of a top-level statement's functions."""
        return frozenset(one for one in self._host_data.items() if one[0][0] is unit)

    def take_recorded(self) -> Mapping[HostDataKey, HostData]:
        """Return what was recorded since the last call of this method."""
        taken, self.recorded_host_data = self.recorded_host_data, {}
        return taken

    def add_construction(self, info: ClassInfo, maker: ClassInfo | None) -> None:
        """Record that code of the class `maker`, or of a function (None), has made an instance of the class `info`."""
        self._makers[info].add(maker)

    def is_parameter_on_host(self, info: FunctionInfo, name: str) -> bool:
        """Return whether a parameter of a function is on the host in every call.

        That also holds for the inputs of a module that is itself on the host in every call.
        """
        return self._calls.get((info, name), False) or (info.owner is not None and self.are_modules_on_host(info.owner))

    def are_modules_on_host(self, info: ClassInfo) -> bool:
        """Return whether the modules of a class are on the host in every call of their methods.

        A module whose methods are never called is on the host if only modules on the host have made it.
        """
        return self._compute_on_host(info, frozenset())

    def _compute_on_host(self, info: ClassInfo | None, asked: frozenset[ClassInfo]) -> bool:
        """Compute the answer of `are_modules_on_host` for a class.

        `asked` are the classes already visited, so that classes that make each other's instances do not recurse for
        ever.
        """
        if info is None or info in asked:
            return False
        makers = self._makers[info]
        called = self._calls.get((info, "self"))
        return (
            called
            if called is not None
            else bool(makers) and all(self._compute_on_host(one, asked | {info}) for one in makers)
        )
