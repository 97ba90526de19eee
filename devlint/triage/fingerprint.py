"""Fingerprints, which identify a finding even after lines have moved or code was reformatted."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from devlint.diagnostic import Diagnostic, Region
from devlint.triage.definition_scopes import DefinitionScope, definition_scopes, innermost_scope

_LAYOUT = re.compile(r"\s+|\\\n|,(?=\s*[)\]}])")
_LENGTH = 16


def add_fingerprints(
    diagnostics: Sequence[Diagnostic], lines: Callable[[str, int | None], Sequence[str]]
) -> Iterator[Diagnostic]:
    """Yield the findings with their fingerprints added.

    A fingerprint depends on the rule, the name of the enclosing function or class, and the code without white space,
    trailing commas and the kind of quotes. It does not depend on the file, the line numbers or the message. Findings in
    one file that are equal in all of this are distinguished by their order. The other places of their mistakes get
    fingerprints as if they were reported after all findings.
    """

    @cache
    def scopes_of(filename: str, cell: int | None) -> list[DefinitionScope]:
        return definition_scopes(lines(filename, cell), cell=cell is not None)

    seen: Counter[tuple[str, ...]] = Counter()

    def fingerprint_of(code: str, region: Region) -> str:
        scope = innermost_scope(scopes_of(region.filename, region.cell), region.start.row)
        text = _without_layout(_text(region, lines(region.filename, region.cell)))
        key = (code, scope.name if scope else "", text)
        here = (region.filename, *key)
        seen[here] += 1
        whole = "\0".join([*key, str(seen[here])])
        return hashlib.sha256(whole.encode(errors="replace")).hexdigest()[:_LENGTH]

    marked = [replace(one, fingerprint=fingerprint_of(one.code, one.region)) for one in diagnostics]
    for one in marked:
        others = (replace(each, fingerprint=fingerprint_of(each.code, each.region)) for each in one.others)
        yield replace(one, others=tuple(others))


def _text(region: Region, lines: Sequence[str]) -> str:
    """Return the source text between the start and the end of a region."""
    start, end = region.start, region.end
    rows = list(lines[start.row - 1 : end.row])
    if rows and len(rows) == end.row - start.row + 1:
        rows[-1] = rows[-1][: end.column - 1]
    if rows:
        rows[0] = rows[0][start.column - 1 :]
    return "\n".join(rows)


def _without_layout(text: str) -> str:
    """Return code without the details that formatters change.

    White space and trailing commas are removed, and all quotes become double quotes.
    """
    return _LAYOUT.sub("", text).replace("'", '"')
