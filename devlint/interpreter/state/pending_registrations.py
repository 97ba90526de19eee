"""Definitions that wait to be registered."""

from __future__ import annotations

from devlint.interpreter.program.definitions import EnclosingFrame, FunctionInfo, ModuleInfo


class PendingRegistrations:
    """What waits to be registered.

    `waiting` has the definitions by the function that will register them, each with the code it stands in; `places` are
    the names of a module under which what such functions register will be found.
    """

    def __init__(self) -> None:
        self.waiting: dict[FunctionInfo, list[tuple[EnclosingFrame, str]]] = {}
        self.places: dict[tuple[ModuleInfo, str], set[FunctionInfo]] = {}
