"""Silencing of findings by adding `# devlint: ignore[...]` comments at the ends of their lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from devlint.diagnostic import FAILS_TOO, SAME_HERE, Diagnostic, Edit, Position, Region
from devlint.repair.document import Document
from devlint.repair.fix_rounds import Documents, RepairResult, ResultT
from devlint.syntax.comments import CodeLine, Comment, read_comment_layout
from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import decode_source

DEVLINT_CODES_PREFIX: Final = "DEV9"
"""The prefix of codes that comments do not silence: unreadable files, `reveal_placement`, unused comments."""

ANY_TEXT: Final = re.compile("")
_IGNORE: Final = re.compile(r"#\s*devlint:\s*ignore\s*\[(?P<codes>[^\[\]#]*)\](?P<reason>\s*--[^#]*)?")


def add_ignore_comments(
    documents: Documents,
    seen: ResultT,
    look: Callable[[Documents], ResultT],
    sift: Callable[[ResultT], Sequence[Diagnostic]],
    reason: str | None,
) -> RepairResult[ResultT]:
    """Add an `ignore` comment to the documents for every finding that `sift` returns, and analyse them again.

    A mistake that shows at several places is one finding, and a comment at one of them silences none of the others:
    each place that the finding names gets a comment, and so does what the analysis reports afterwards. `look` analyses
    the program with changed documents in place of its files. `sift` takes an analysis and returns the findings to
    silence.
    """
    changed, after, silenced = documents, seen, list[Diagnostic]()
    while found := [one for one in sift(after) if not one.code.startswith(DEVLINT_CODES_PREFIX)]:
        by_file: dict[str, list[tuple[str, Region]]] = defaultdict(list)
        for one in found:
            also = (note.region for note in one.trace if note.message in (FAILS_TOO, SAME_HERE))
            for region in (one.region, *also):
                by_file[region.filename].append((one.code, region))
        before, changed = changed, {name: _silenced(text, by_file[name], reason) for name, text in changed.items()}
        if changed == before:
            break
        after = look(changed)
        left = {one.order for one in sift(after)}
        silenced += [one for one in found if one.order not in left]
    return RepairResult(changed, after, tuple(silenced))


def _silenced(document: Document, found: Sequence[tuple[str, Region]], reason: str | None) -> Document:
    """Return a document with an `ignore` comment for each rule, by its code, at each region in it.

    Return the document unchanged if it cannot be parsed before or after the comments are added.
    """
    if not found:
        return document
    try:
        edits = [edit for edit in ignore_comment_edits(_index(document), found, reason) if document.takes([edit])]
        changed = document.edited(edits)
        _index(changed)
    except SourceError:
        return document
    return changed


def _index(document: Document) -> FileIndex:
    """Return the syntax index (the top-level statements) of a document.

    Raise SourceError if the document cannot be parsed.
    """
    return index_source(decode_source(document.data, document.filename))


def ignore_comment_edits(index: FileIndex, found: Iterable[tuple[str, Region]], reason: str | None) -> Iterator[Edit]:
    """Yield the edits that add `ignore` comments in one file, for rules, by their codes, at regions."""
    layout = read_comment_layout(index, ANY_TEXT)
    comments = {one.row: one for one in layout.comments}
    codes: Mapping[int, set[str]] = defaultdict(set)
    for code, region in found:
        codes[_last_row(layout.physical, index.source.row(region))].add(code)
    for row, wanted in codes.items():
        yield _edit(index, row, comments.get(row), sorted(wanted), reason)


def _last_row(lines: Iterable[CodeLine], row: int) -> int:
    """Return the row at whose end an `ignore` comment applies to `row`: the last row of the physical line around it.

    A physical line includes the multi-line strings and backslash continuations that end on it.
    """
    return next((line.last_row for line in lines if line.first_row <= row <= line.last_row), row)


def _edit(index: FileIndex, row: int, comment: Comment | None, codes: list[str], reason: str | None) -> Edit:
    """Return the edit that silences rule codes on a row, by extending its `ignore` comment or adding a new one.

    A reason follows the one that the comment has.
    """
    text = index.source.text
    start, end = index.lines.start(row), index.lines.start(row + 1)
    there = _IGNORE.search(comment.text) if comment is not None else None
    if comment is not None and there is not None:
        known = [word.strip() for word in there["codes"].split(",") if word.strip()]
        listed = ", ".join([*known, *(code for code in codes if code not in known)])
        written = there["reason"] or ""
        finish = there.end("codes")
        if reason and reason not in written:
            kept = written.rstrip()
            listed += "]" + (f"{kept}; {reason}" if kept else f" -- {reason}")
            finish = there.end() - (len(written) - len(kept))
        first, last = (Position(row, comment.column + 1 + place) for place in (there.start("codes"), finish))
    else:
        line = text[start:end].rstrip("\r\n")
        listed = f"  # devlint: ignore[{', '.join(codes)}]" + (f" -- {reason}" if reason else "")
        first, last = Position(row, len(line.rstrip()) + 1), Position(row, len(line) + 1)
    region = index.source.region(first, last)
    return Edit(listed, region.start, region.end, region.cell)
