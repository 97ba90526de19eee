"""Dependencies of analysis results: the top-level statements that the analysis of a given statement may have read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from devlint.domain.value import Const, Tensor, Unknown
from devlint.interpreter.driver.module_execution import EFFECT_STATEMENTS
from devlint.interpreter.program.definitions import EnclosingFrame, ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.statement_reads import LocatedStatement, StatementReads
from devlint.syntax.index import Statement


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The top-level statements and modules on which an analysis result depends; if one changes, the result is stale.

    `mutable_modules` are the files of modules from which the analysis read objects that other top-level statements of
    the same module may change.
    """

    statements: frozenset[Statement]
    mutable_modules: frozenset[Path]


class DependencyFinder:
    """A finder of the dependencies of top-level statements, for the program as it was when it was analysed."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._reads = StatementReads(self._loaded)

    def of(
        self, module: ModuleInfo, statements: Iterable[Statement], frames: Mapping[ModuleInfo, EnclosingFrame]
    ) -> Dependencies:
        """Return the dependencies of the analysis of a module's top-level statements; these statements are included.

        `frames` are the frames of the modules that the analysis has run.
        """
        waiting: list[LocatedStatement] = [(module, statement) for statement in statements]
        seen = {statement for _, statement in waiting}
        mutable_modules: set[Path] = set()
        while waiting:
            home, statement = waiting.pop()
            more = self._reads.direct_reads(home, statement)
            if home.path not in mutable_modules and _binds_objects(frames.get(home), statement):
                mutable_modules.add(home.path)
                more = [*more, *((home, one) for one in home.index.statements if _has_effect(one))]
            for site in more:
                if site[1] not in seen:
                    seen.add(site[1])
                    waiting.append(site)
        return Dependencies(frozenset(seen), frozenset(mutable_modules))

    def of_mentions(
        self, module: ModuleInfo, statement: Statement, frames: Mapping[ModuleInfo, EnclosingFrame]
    ) -> Dependencies:
        """Return the dependencies of the decision whether the analysis can skip a definition.

        A definition can be skipped if nothing in it concerns tensors. The dependencies are the statements that define
        the names which the definition mentions, but not what the functions among them depend on.
        """
        reads = self._reads.direct_reads(module, statement)
        values = [(home, one) for home, one in reads if one.kind == "other"]
        found = [self.of(home, [one], frames) for home, one in values]
        statements = frozenset({statement, *(one for _, one in reads)}).union(*(one.statements for one in found))
        return Dependencies(statements, frozenset().union(*(one.mutable_modules for one in found)))

    def _loaded(self, importer: ModuleInfo, name: str, level: int) -> ModuleInfo | None:
        """Return the module that an import statement names, or None if the analysis has not loaded that module."""
        path = self._program.resolve(importer, name, level)
        return self._program.loaded(path) if path is not None else None


def _has_effect(statement: Statement) -> bool:
    """Return whether a top-level statement may do more than bind names: it is a loop, a condition or a plain call."""
    return statement.kind == "other" and (
        not statement.binds or statement.text.startswith((*EFFECT_STATEMENTS, "if ", "try"))
    )


def _binds_objects(frame: EnclosingFrame | None, statement: Statement) -> bool:
    """Return whether a top-level statement binds a name to a mutable object, which other code can change.

    `frame` is that of the statement's module, None if the module was not run.
    """
    if statement.kind != "other" or frame is None:
        return False
    names = frame.state.names
    plain = (Const, Tensor, Unknown)
    return any(name in names and not isinstance(names[name], plain) for name in statement.binds)
