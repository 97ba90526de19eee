"""The parameters of an application's functions that every call of the application passes from the host."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.linter.file_findings import FileFindings, HandedParameter, HostCalls
from devlint.linter.reached_files import MAIN_GUARD, does_work
from devlint.linter.uncalled import UncalledDefinitions
from devlint.linter.unset_parameters import is_fetched, units_naming, uses_of
from devlint.syntax.index import Statement

_OF_DEVICES: Final = re.compile(
    r"cuda|gpu|(?<![\w.])device(?!=[\w.]+\.device\b)|accelerat|lightning|\bmps\b|\bxpu\b|\.to\(", re.IGNORECASE
)
"""What a script says that may use an accelerator; `device=x.device` only follows another tensor."""
_MOVES: Final = re.compile(rf"{_OF_DEVICES.pattern}|trainer|\.fit\(", re.IGNORECASE)
"""What a file says that may move a model, or hand one to a library that does."""
_OF_NO_MODULE: Final = re.compile(r"torch\.cuda\.manual_seed\w*|Loss\(\)\.(?:cuda\(\)|to\([^()]*\))")
"""What says `cuda` and moves no weights: seeds, and losses, which have none."""


class HostCallers:
    """The answers to the question whether all calls of an application pass a parameter from the host.

    `given` are the given files by their names; `results` are those of their analyses, which have followed the calls.
    """

    def __init__(
        self, uncalled: UncalledDefinitions, given: Mapping[str, ModuleInfo], results: Iterable[FileFindings]
    ) -> None:
        self._uncalled = uncalled
        self._given = given
        self._results = results
        self._calls: defaultdict[HandedParameter, defaultdict[str, list[HostCalls]]] | None = None
        self._known: dict[HandedParameter, bool] = {}

    def only_pass(self, parameter: HandedParameter) -> bool:
        """Return whether all calls of a function pass a parameter from the host; False where nothing calls it."""
        known = self._known.get(parameter)
        if known is None:
            self._known[parameter] = True  # What a function passes on to itself comes from its other callers.
            known = self._known[parameter] = self._compute(parameter)
        return known

    def stays_on_host(self, module: ModuleInfo) -> bool:
        """Return whether a file is a script of an application that nobody imports, and nothing moves what it defines.

        Neither the script nor what it imports speaks of a device, or of what may train a model on one.
        """
        if not (MAIN_GUARD.search(module.source.text) or does_work(module)):
            return False
        if not self._uncalled.stands_alone(module):
            return False
        seen, pending = {module.path}, [module]
        while pending:
            one = pending.pop()
            if speaks_of_moves(one.source.text):
                return False
            found = [each for each in self._uncalled.importing.imported_by(one) if each.path not in seen]
            seen |= {each.path for each in found}
            pending += found
        return True

    def _compute(self, parameter: HandedParameter) -> bool:
        """Compute the answer of `only_pass`, which needs that all places which name the function are such calls."""
        module = self._given.get(parameter.filename)
        owner, _, name = parameter.function.rpartition(".")
        uncalled, is_method = self._uncalled, bool(owner)
        if module is None or not uncalled.knows_callers(module, name, is_method=is_method):
            return False
        if uncalled.is_named_elsewhere(name, is_method=is_method):
            return False
        recorded, is_called = self._recorded(parameter), False
        for one in uncalled.files_naming(module, name, is_method=is_method):
            if is_fetched(one, name):
                return False
            uses = [
                use
                for unit in units_naming(one, name)
                for use in uses_of(unit, name, is_method=is_method)
                if not (owner and _is_of_another_class(use, unit, owner, name))
            ]
            if not uses:
                continue
            is_called, calls = True, recorded[one.filename]
            if None in uses:
                return False
            if _is_script_for_host(one):
                continue
            if max((call.count for call in calls), default=0) < len(uses):
                return False
            if not all(self.only_pass(source) for call in calls for source in call.sources):
                return False
        return is_called

    def _recorded(self, parameter: HandedParameter) -> defaultdict[str, list[HostCalls]]:
        """Return the calls that pass a parameter from the host, by the names of the files in which they are."""
        if self._calls is None:
            self._calls = defaultdict(lambda: defaultdict(list))
            for result in self._results:
                for one in result.host_calls:
                    self._calls[one.parameter][one.filename].append(one)
        return self._calls[parameter]


def speaks_of_moves(text: str) -> bool:
    """Return whether code may move a model, or hand one to a library that does."""
    return _MOVES.search(_OF_NO_MODULE.sub("", text)) is not None


def _is_script_for_host(module: ModuleInfo) -> bool:
    """Return whether a file is a script that never speaks of a device: what it passes is on the host."""
    return MAIN_GUARD.search(module.source.text) is not None and _OF_DEVICES.search(module.source.text) is None


def _is_of_another_class(use: cst.Call | None, unit: Statement, owner: str, name: str) -> bool:
    """Return whether a call in a class is one of the class's own method, which has the name of a method of `owner`."""
    match use:
        case cst.Call(func=cst.Attribute(value=cst.Name(value="self"))):
            defines = re.search(rf"^\s+(?:async\s+)?def\s+{re.escape(name)}\b", unit.text, re.MULTILINE)
            return unit.kind == "class" and unit.name != owner and defines is not None
    return False
