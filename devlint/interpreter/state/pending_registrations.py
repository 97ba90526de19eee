"""Entries into registries that are deferred until the program reads the registry."""

from __future__ import annotations

from collections.abc import Callable

from devlint.interpreter.program.definitions import FunctionInfo, ModuleInfo


class PendingRegistrations:
    """The decorators and calls at the top level of files that are still to put something into a registry.

    `work_by_registrar` maps each function that fills a registry (the registrar) to what is still to be run of it, in
    order. `registrars_by_name` maps a name of a module, such as that of a registry dict, to the registrars that write
    to it.
    """

    def __init__(self) -> None:
        self.work_by_registrar: dict[FunctionInfo, list[Callable[[], object]]] = {}
        self.registrars_by_name: dict[tuple[ModuleInfo, str], set[FunctionInfo]] = {}
