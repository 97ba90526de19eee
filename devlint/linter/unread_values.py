"""Values that code only keeps, though nothing in the project reads them.

They are figures about CUDA, scalers of gradients, and measured times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.method_texts import methods_in
from devlint.interpreter.program.program import Program
from devlint.linter.computed_members import ComputedMembers
from devlint.linter.computed_names import computes_names
from devlint.linter.project_texts import is_installed
from devlint.linter.uncalled import UncalledDefinitions
from devlint.semantics.accelerators import is_figure_without_cuda
from devlint.syntax.index import Statement
from devlint.syntax.text_words import ends_of_word, has_word

_KEPT: Final = re.compile(r"\s*(?P<owner>self\.)?(?P<name>\w+)(?:\s*:[^=]+)?\s*[+-]?=(?!=)\s*(?P<value>.*)")
"""A line that keeps a value in an attribute or under a name."""
_CALL: Final = re.compile(r"([\w.]+)\(\)\s*(?:#.*)?")
"""The call of a function without arguments, with the name of the function."""
_SCALER: Final = re.compile(r"(?:[\w.]+\.)?GradScaler\(.*\)\s*(?:#.*)?")
"""The construction of a scaler of gradients in one line."""
_ASSIGNED: Final = r"\s*(?::[^=\n]+|[+-])?=(?!=)"
"""What follows a name that is given a value, and not read."""


class UnreadValues:
    """The answers to the question whether a row only keeps a value that nothing in the project reads."""

    def __init__(self, program: Program, uncalled: UncalledDefinitions) -> None:
        self._program = program
        self._uncalled = uncalled
        self._members = ComputedMembers(program, uncalled)

    def is_harmless_at(self, module: ModuleInfo, row: int) -> bool:
        """Return whether a row only keeps what nothing reads, and does not fail without CUDA.

        That is a figure, which is an empty one there, or a scaler, which does nothing there.
        """
        kept = _kept_at(module, row)
        if kept is None:
            return False
        called = _CALL.fullmatch(kept["value"])
        is_figure = called is not None and is_figure_without_cuda(f"torch.cuda.{called[1].rpartition('.')[2]}")
        return (is_figure or _SCALER.fullmatch(kept["value"]) is not None) and self.is_kept_at(module, row)

    def is_of_program_at(self, module: ModuleInfo, row: int) -> bool:
        """Return whether a row keeps what nothing reads in an application, whose objects no other program is given."""
        if not self._uncalled.is_application or is_installed(module.path, self._program.disk):
            return False
        return self.is_kept_at(module, row)

    def is_kept_at(self, module: ModuleInfo, row: int) -> bool:
        """Return whether a row only keeps a value, perhaps in a variable from which an attribute takes it."""
        unit, kept = module.index.statement_at(row), _kept_at(module, row)
        if unit is None or kept is None:
            return False
        if kept["owner"] is not None:
            return not self._is_read(module, kept["name"])
        if unit.name is None:
            return not kept[0][:1].isspace() and not self._is_named(module, unit, kept["name"])
        attributes = [*_attributes_from(unit, row, kept["name"])]
        return bool(attributes) and not any(one is None or self._is_read(module, one) for one in attributes)

    def _is_read(self, home: ModuleInfo, attribute: str) -> bool:
        """Return whether code or a text of the project may read an attribute, by its name or a computed one."""
        if computes_names(self._program, home, of_methods=True, within=True):
            return True
        read = re.compile(rf"\.{attribute}\b(?!{_ASSIGNED})|[\"']{attribute}[\"']")
        if any(attribute in one.source.text and read.search(one.source.text) for one in self._uncalled.modules):
            return True
        return self._uncalled.is_named_elsewhere(attribute, is_method=True)

    def _is_named(self, home: ModuleInfo, unit: Statement, name: str) -> bool:
        """Return whether code or a text of the project may name what a statement at module level binds."""
        files = self._uncalled.importing.of_function(home, name)
        if any(self._members.may_be_reached(one, home, is_class=False) for one in files):
            return True
        mentions = sum(_count(one.source.text, name) for one in files)
        return mentions > _count(unit.text, name) or self._uncalled.is_named_elsewhere(name)


def _kept_at(module: ModuleInfo, row: int) -> re.Match[str] | None:
    """Return the match of a row that keeps a value; None if it does something else."""
    unit = module.index.statement_at(row)
    return _KEPT.fullmatch(unit.text.splitlines()[row - unit.first_row]) if unit is not None else None


def _attributes_from(unit: Statement, row: int, name: str) -> Iterator[str | None]:
    """Yield the attributes that take the value of a variable in the function around a row; None for any other use."""
    lines = unit.text.splitlines()
    first, last = 0, len(lines)
    for _, start, end in methods_in(unit) if unit.kind == "class" else ():
        top, bottom = unit.text.count("\n", 0, start), unit.text.count("\n", 0, end - 1)
        if top <= row - unit.first_row <= bottom:
            first, last = top, bottom + 1
    for line in lines[first:last]:
        kept = _KEPT.fullmatch(line)
        if not has_word(line, name) or (kept is not None and _only_binds(kept, name)):
            continue
        yield kept["name"] if kept is not None and kept["owner"] is not None else None


def _only_binds(kept: re.Match[str], name: str) -> bool:
    """Return whether a line gives a variable a value in which the variable does not occur."""
    return kept["owner"] is None and kept["name"] == name and not has_word(kept["value"], name)


def _count(text: str, word: str) -> int:
    """Return how often a text holds a word that is no part of a longer one."""
    return sum(1 for _ in ends_of_word(text, word))
