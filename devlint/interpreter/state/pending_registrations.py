"""Decorated definitions whose entry into a registry is deferred until the program reads the registry."""

from __future__ import annotations

from devlint.interpreter.program.definitions import EnclosingFrame, FunctionInfo, ModuleInfo


class PendingRegistrations:
    """The decorated definitions that their decorators are still to put into a registry.

    `definitions_by_registrar` maps each such decorator (the registrar) to the definitions it will register, each with
    the frame it is defined in. `registrars_by_name` maps a name of a module, such as that of a registry dict, to the
    registrars that write to it.
    """

    def __init__(self) -> None:
        self.definitions_by_registrar: dict[FunctionInfo, list[tuple[EnclosingFrame, str]]] = {}
        self.registrars_by_name: dict[tuple[ModuleInfo, str], set[FunctionInfo]] = {}
