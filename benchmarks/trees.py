"""Compare the trees that devlint makes from Python's own parser with those of libcst's parser, and time both.

    python benchmarks/trees.py FOLDER_OR_FILE...

Every top-level statement of the Python files is read by both, and the trees are compared node by node: kinds, names,
literals, operators, and the order of all nodes with meaning. The exit status is 1 if any tree differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import libcst as cst

from devlint.syntax.index import index_source
from devlint.syntax.libcst_parsing import try_parse_libcst
from devlint.syntax.semantic_tree.tree import semantic_tree
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import read_source
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import children, semantic_fields

_PLAIN = frozenset({"value", "star", "conversion", "name"})
"""The names of fields that hold a text with meaning, where they hold a text."""
_KINDS = frozenset({"operator", "asynchronous", "posonly_ind", "equal"})
"""The names of fields that hold punctuation whose kind has a meaning."""


def main() -> int:
    """Compare all statements of the given files, print the counts and times, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    compared = left_to_libcst = unreadable = differing = 0
    ours = theirs = 0.0
    for statement in _statements(parser.parse_args().paths):
        start = time.process_time()
        tree = semantic_tree(statement.text)
        between = time.process_time()
        module = try_parse_libcst(statement.text)
        ours, theirs = ours + between - start, theirs + time.process_time() - between
        if module is None:
            unreadable += 1
        elif tree is None:
            left_to_libcst += 1
        else:
            compared += 1
            found = difference(tree, module.body[0])
            if found is not None:
                differing += 1
                print(f"{statement.source.filename}:{statement.first_row}: {found}")
    print(f"{compared} statements compared, {differing} differ; {left_to_libcst} are left to libcst's parser")
    print(f"{unreadable} statements that libcst cannot parse")
    print(f"{ours:.2f} s from Python's parser, {theirs:.2f} s with libcst's: {ours / max(theirs, 1e-9):.2f}")
    return int(differing > 0)


def difference(one: cst.CSTNode, other: cst.CSTNode) -> str | None:
    """Return in words where two trees differ in meaning; None if they do not."""
    pairs = [(one, other)]
    for left, right in pairs:
        if _meaning(left) != _meaning(right):
            return f"{_meaning(left)} is {_meaning(right)} for libcst"
        pairs += zip(children(left), children(right), strict=True)
    return None


def _meaning(node: cst.CSTNode) -> list[object]:
    """Return what a node means without the nodes below it: its kind, its texts, and how many nodes its fields hold."""
    meaning: list[object] = [type(node).__name__]
    meant = semantic_fields(type(node))
    for field in fields(node):
        value = getattr(node, field.name)
        if field.name in meant:
            is_sequence = isinstance(value, (list, tuple))
            meaning.append((field.name, len(value) if is_sequence else isinstance(value, cst.CSTNode)))
        elif field.name == "relative":
            meaning.append((field.name, len(value)))
        elif field.name in _PLAIN and isinstance(value, str):
            meaning.append((field.name, value))
        elif field.name in _KINDS and (field.name != "equal" or isinstance(node, cst.FormattedStringExpression)):
            meaning.append((field.name, type(value).__name__))
    return meaning


def _statements(paths: list[Path]) -> Iterator[Statement]:
    """Yield the top-level statements of Python files and folders, but not those nested too deeply for libcst."""
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    for file in files:
        try:
            index = index_source(read_source(file))
        except SourceError:
            continue
        yield from (one for one in index.statements if not one.too_deep)


if __name__ == "__main__":
    sys.exit(main())
