"""Search, with libcst, for the top-level statements of a file whose grammar is newer than the running Python."""

from __future__ import annotations

import re

import libcst as cst

from devlint.syntax.code_regions import code_regions
from devlint.syntax.code_without_texts import without_texts
from devlint.syntax.libcst_facts import facts_from_libcst
from devlint.syntax.libcst_parsing import try_parse_libcst
from devlint.syntax.line_starts import NEWLINE, Lines
from devlint.syntax.source import SourceError
from devlint.syntax.statement_outline import StatementOutline, last_continued_row

# libcst's native parser overflows the stack where Python raises an error: with about a thousand nested brackets, or ten
# thousand operators or branches. These limits stay below that.
_MAX_BRACKETS = 200
_MAX_LINE = 8_000
_MAX_BRANCHES = 2_000


def libcst_outline(text: str, lines: Lines) -> tuple[str | None, list[StatementOutline]] | None:
    """Return the docstring of a file, and an outline (facts, start, last row) of each of its top-level statements.

    Return None if libcst cannot parse the file.
    """
    if _too_deep(text):
        return None
    module = try_parse_libcst(text)
    if module is None:
        return None
    first_nodes = {tree: _first_node(tree) for tree in module.body}
    try:
        regions = code_regions(module, [*module.body, *first_nodes.values()], text)
    except SourceError:
        return None
    outlines = [
        StatementOutline(facts_from_libcst(tree), regions[first][0], last_continued_row(regions[tree][1], text, lines))
        for tree, first in first_nodes.items()
    ]
    return module.get_docstring(clean=False), outlines


def _first_node(tree: cst.CSTNode) -> cst.CSTNode:
    """Return the syntax node with which a statement starts: its first decorator, or the statement itself."""
    return tree.decorators[0] if isinstance(tree, (cst.FunctionDef, cst.ClassDef)) and tree.decorators else tree


def _too_deep(text: str) -> bool:
    """Return whether a text seems to be nested too deeply for libcst's native parser, judged without parsing."""
    code = without_texts(text)
    depth = deepest = 0
    for character in re.findall(r"[][(){}]", code):
        depth += 1 if character in "([{" else -1
        deepest = max(deepest, depth)
    longest = max(len(line) for line in NEWLINE.split(code))
    return deepest > _MAX_BRACKETS or longest > _MAX_LINE or code.count("elif") > _MAX_BRANCHES
