"""Definitions whose registration in a registry is deferred until the registry is read."""

from __future__ import annotations

from devlint.interpreter.program.definitions import EnclosingFrame, FunctionInfo, ModuleInfo


class PendingRegistrations:
    """The decorated definitions that are still to be registered by their decorator.

    `definitions_by_registrar` maps each decorator (the registrar) to the definitions it will register, each with the
    frame it is defined in. `registrars_by_name` maps a name of a module, such as that of a registry dict, to the
    registrars that write to it.
    """

    def __init__(self) -> None:
        self.definitions_by_registrar: dict[FunctionInfo, list[tuple[EnclosingFrame, str]]] = {}
        self.registrars_by_name: dict[tuple[ModuleInfo, str], set[FunctionInfo]] = {}
