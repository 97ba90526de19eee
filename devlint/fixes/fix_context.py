"""What fixes need in order to make text edits: a file's text, and the positions and parents of its syntax nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias, TypeVar, cast

import libcst as cst

from devlint.diagnostic import Edit, Fix
from devlint.domain.placement import Place
from devlint.syntax.code_regions import CodeRegions
from devlint.syntax.index import Binding, FileIndex, Statement
from devlint.syntax.tree_walk import children, descend

Node = TypeVar("Node", bound=cst.CSTNode)
Answer = TypeVar("Answer")

_BLOCK = re.compile(r"^([ \t]*)\S[^\r\n]*:[ \t]*(?:#[^\r\n]*)?\r?\n(?:[ \t]*\r?\n)*\1([ \t]+)\S", re.MULTILINE)
"""The head of a block, with its indentation, and what the first line in the block adds to that."""


class NoFix(Exception):
    """The exception that is raised when a fix cannot be applied to the code that a finding reports."""


class FixContext:
    """The text of one file and its top-level statements, from which fixes make their edits of this file."""

    def __init__(self, index: FileIndex) -> None:
        self.index = index
        self.text = index.source.text
        self._regions_by_statement: dict[int, NodeRegion] = {}

    def region_at(self, place: Place) -> NodeRegion:
        """Return the `NodeRegion` of the top-level statement that contains a source location.

        Raises NoFix for a source location in another file.
        """
        unit = place.unit
        if not isinstance(unit, Statement) or unit.source is not self.index.source:
            raise NoFix
        return self.statement_region(unit)

    def statement_region(self, unit: Statement) -> NodeRegion:
        """Return the `NodeRegion` of a top-level statement: the positions and parents of its syntax nodes.

        Raises SourceError if libcst cannot parse the statement.
        """
        if id(unit) not in self._regions_by_statement:
            self._regions_by_statement[id(unit)] = NodeRegion(self, unit)
        return self._regions_by_statement[id(unit)]

    def edit(self, start: int, end: int, content: str) -> Edit:
        """Return the edit that replaces the file's text from offset `start` up to offset `end` by `content`."""
        position = self.index.lines.position
        region = self.index.source.region(position(start), position(end))
        return Edit(content, region.start, region.end, region.cell)

    def extend_edit(self, edit: Edit, more: str) -> Edit:
        """Return a copy of an edit whose inserted text is followed by the text `more`."""
        return replace(edit, content=edit.content + more)

    @cached_property
    def imports(self) -> Sequence[Binding]:
        """The names that the import statements at the top level of the file bind, with what they import."""
        return [binding for statement in self.index.statements for binding in statement.imports]

    @cached_property
    def indent(self) -> str:
        """The file's indentation of one level: that of its first block, or four spaces in a file without blocks."""
        found = _BLOCK.search(self.text)
        return found[2] if found else "    "

    def line_start(self, offset: int) -> int:
        """Return the offset of the start of the line that contains the given offset."""
        return self.index.lines.start(self.index.lines.position(offset).row)

    def next_line(self, offset: int) -> int:
        """Return the offset of the start of the line after the one that contains the given offset."""
        return self.index.lines.start(self.index.lines.position(offset).row + 1)

    def newline(self, offset: int) -> str:
        """Return the line ending of the line at an offset; for a last line without line ending, that of the file."""
        line = self.text[self.line_start(offset) : self.next_line(offset)]
        return line[len(line.rstrip("\r\n")) :] or self.index.source.newline


def node_at(place: Place) -> cst.BaseExpression:
    """Return the syntax node at a source location if it is an expression. Raises NoFix for any other node."""
    if isinstance(place.node, cst.BaseExpression):
        return place.node
    raise NoFix


class NodeRegion:
    """One top-level statement of a file, with the text positions and the parents of the syntax nodes in it.

    Raises SourceError if libcst cannot parse the statement.
    """

    def __init__(self, context: FixContext, unit: Statement) -> None:
        self.context = context
        self.statement = unit
        # Edits depend on parentheses, which the tree has only now.
        _ = unit.module
        self._results: dict[tuple[Callable[..., object], cst.CSTNode], object] = {}

    @cached_property
    def _regions(self) -> CodeRegions:
        """The positions of the statement's syntax nodes, as offsets from the start of the statement."""
        return CodeRegions(self.statement.module, self.statement.text)

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        """The parent of each syntax node within the top-level statement."""
        tree = self.statement.tree
        return {child: node for node in (tree, *descend(tree)) for child in children(node)}

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the offsets in the file at which a syntax node starts and ends, without the parentheses around it."""
        region = self._regions.exactly(node)
        if region is None:
            raise NoFix
        return self.statement.start + region[0], self.statement.start + region[1]

    def span_with_parentheses(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the offsets in the file at which a syntax node starts and ends, with the parentheses around it."""
        opening: Sequence[cst.CSTNode] = getattr(node, "lpar", ())
        closing: Sequence[cst.CSTNode] = getattr(node, "rpar", ())
        if not opening:
            return self.span(node)
        return self.span(opening[0])[0], self.span(closing[-1])[1]

    def code(self, node: cst.CSTNode) -> str:
        """Return the source text of a syntax node, with the parentheses around the node."""
        start, end = self.span_with_parentheses(node)
        return self.context.text[start:end]

    def cached(self, compute: Callable[[Node], Answer], node: Node) -> Answer:
        """Return `compute(node)`, computed at the first call only.

        Later fixes in the same statement get the stored result.
        """
        key = (compute, node)
        if key not in self._results:
            self._results[key] = compute(node)
        return cast("Answer", self._results[key])

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the parent of a syntax node; None for the top-level statement itself."""
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the syntax nodes around a node, from its parent up to the top-level statement."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def enclosing_function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """Return the innermost function definition whose body contains a node; None for a node outside of functions."""
        below = node
        for above in self.ancestors(node):
            if isinstance(above, cst.FunctionDef) and above.body is below:
                return above
            below = above
        return None


FixMaker: TypeAlias = Callable[[FixContext], Fix | None]
"""A function that makes the fix of a finding when the finding is reported.

It returns None, or raises NoFix, where no fix applies.
"""
