"""Which findings `--fix` can fix: the mark `[*]` beside them, and the closing line that counts them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from devlint.diagnostic import Applicability, Diagnostic
from devlint.output.report_context import ReportContext

MARK: Final = "[*]"
"""The mark of a finding that the requested kind of fixes would fix."""


def is_fixed_by_request(diagnostic: Diagnostic, context: ReportContext) -> bool:
    """Return whether `--fix` would fix a finding; where the user asks for unsafe fixes, those count too."""
    return _has_fix(diagnostic, Applicability.SAFE) or (
        context.unsafe_fixes and _has_fix(diagnostic, Applicability.UNSAFE)
    )


def fix_mark(diagnostic: Diagnostic, context: ReportContext) -> str:
    """Return the mark `[*] ` with a blank after it for a finding that `--fix` would fix, else no text."""
    return f"{MARK} " if is_fixed_by_request(diagnostic, context) else ""


def fix_summary(diagnostics: Iterable[Diagnostic], context: ReportContext) -> str:
    """Return the line `[*] 2 fixable with --fix, 1 more with --unsafe-fixes`; no text if no finding can be fixed."""
    known = list(diagnostics)
    safe = sum(_has_fix(one, Applicability.SAFE) for one in known)
    unsafe = sum(_has_fix(one, Applicability.UNSAFE) for one in known)
    if context.unsafe_fixes and safe + unsafe:
        return f"{MARK} {safe + unsafe} fixable with --fix --unsafe-fixes"
    if safe and unsafe:
        return f"{MARK} {safe} fixable with --fix, {unsafe} more with --unsafe-fixes"
    if safe:
        return f"{MARK} {safe} fixable with --fix"
    return f"{unsafe} fixable with --fix --unsafe-fixes" if unsafe else ""


def _has_fix(diagnostic: Diagnostic, applicability: Applicability) -> bool:
    """Return whether a finding has a fix of this degree of safety."""
    return diagnostic.fix is not None and diagnostic.fix.applicability is applicability
