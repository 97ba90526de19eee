"""The command-line options of `devlint check` that control how findings are fixed or silenced."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FixOptions:
    """The command-line options that control how `devlint check` fixes or silences findings.

    `unsafe` applies unsafe fixes too. `diff` shows the changes and writes no file. `fix_only` skips the report of
    findings, and `show_fixes` lists what was fixed. `stdin` tells that the text comes from the standard input; the
    fixed text then goes to the standard output. If `reason` is not None, findings are not fixed but silenced by
    comments with that reason; the reason may be empty. `unasked` tells that `diff` is set only because the user gave
    `--unsafe-fixes` without `--fix`.
    """

    unsafe: bool = False
    diff: bool = False
    fix_only: bool = False
    show_fixes: bool = False
    stdin: bool = False
    reason: str | None = None
    unasked: bool = False
