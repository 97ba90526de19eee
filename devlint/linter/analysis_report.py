"""The report on one analysis of files: what was found, and what failed."""

from __future__ import annotations

from dataclasses import dataclass

from devlint.diagnostic import Diagnostic
from devlint.interpreter.state.failures import InternalError, UnparsedStatement


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    """The result of one analysis of files.

    `diagnostics` are the findings, sorted; `errors` are failures of devlint itself; `unparsed_statements` are the
    statements that libcst cannot parse; `checked` is the number of files.
    """

    diagnostics: tuple[Diagnostic, ...]
    errors: tuple[InternalError, ...]
    unparsed_statements: tuple[UnparsedStatement, ...]
    checked: int
