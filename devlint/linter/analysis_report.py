"""The report on one analysis of files: what was found, what failed, and what was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from devlint.diagnostic import Diagnostic
from devlint.interpreter.program.disk_reads import DiskReads
from devlint.interpreter.state.failures import InternalError, UnparsedStatement
from devlint.linter.run_work import NO_WORK, RunWork


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    """The result of one analysis of files.

    `diagnostics` are the findings, sorted; `errors` are failures of devlint itself; `unparsed_statements` are the
    statements without a tree; `checked` is the number of files. `disk` has what was asked of the disk, and
    `read` the files that were read, with the names under which findings show them. Where the report is reproducible,
    it is the same as long as the disk gives these answers and the files that were read hold the same. `work` tells what
    was analysed, and in what time.
    """

    diagnostics: tuple[Diagnostic, ...]
    errors: tuple[InternalError, ...]
    unparsed_statements: tuple[UnparsedStatement, ...]
    checked: int
    disk: DiskReads = field(default_factory=DiskReads)
    read: Mapping[Path, str] = field(default_factory=dict)
    is_reproducible: bool = False
    work: RunWork = NO_WORK
