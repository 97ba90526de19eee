"""One file as a fix sees it: its text, where the nodes of its statements stand, and what they stand in."""

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

_BLOCK = re.compile(r":[ \t]*(?:#[^\r\n]*)?\r?\n([ \t]+)\S")
"""The head of a block, and the blanks before the first line in it."""


class NoFix(Exception):
    """There is no such fix for this code."""


class FixContext:
    """The text of one file and its top-level statements."""

    def __init__(self, index: FileIndex) -> None:
        self.index = index
        self.text = index.source.text
        self._parts: dict[int, NodeRegion] = {}

    def part(self, place: Place) -> NodeRegion:
        """The top-level statement in which a place lies. Raises Unfit for a place in another file."""
        unit = place.unit
        if not isinstance(unit, Statement) or unit.source is not self.index.source:
            raise NoFix
        return self.of(unit)

    def of(self, unit: Statement) -> NodeRegion:
        """One of the file's top-level statements."""
        if id(unit) not in self._parts:
            self._parts[id(unit)] = NodeRegion(self, unit)
        return self._parts[id(unit)]

    def edit(self, start: int, end: int, content: str) -> Edit:
        """The edit that puts `content` in place of the characters from `start` to `end`."""
        position = self.index.lines.position
        region = self.index.source.region(position(start), position(end))
        return Edit(content, region.start, region.end, region.cell)

    def insert(self, edit: Edit, more: str) -> Edit:
        """An edit that puts in some more behind what it puts in already."""
        return replace(edit, content=edit.content + more)

    @cached_property
    def imports(self) -> Sequence[Binding]:
        """What the file's top-level statements import."""
        return [binding for statement in self.index.statements for binding in statement.imports]

    @cached_property
    def indent(self) -> str:
        """What the file's first block is indented by."""
        found = _BLOCK.search(self.text)
        return found[1] if found else "    "

    def line_start(self, offset: int) -> int:
        """Where the line of a character begins."""
        return self.index.lines.start(self.index.lines.position(offset).row)

    def next_line(self, offset: int) -> int:
        """Where the line after that of a character begins."""
        return self.index.lines.start(self.index.lines.position(offset).row + 1)

    def newline(self, offset: int) -> str:
        """How the line of a character ends; as the file's other lines do where it is the last and does not end."""
        line = self.text[self.line_start(offset) : self.next_line(offset)]
        return line[len(line.rstrip("\r\n")) :] or self.index.source.newline


def node_at(place: Place) -> cst.BaseExpression:
    """The expression at a place. Raises Unfit for anything else."""
    if isinstance(place.node, cst.BaseExpression):
        return place.node
    raise NoFix


class NodeRegion:
    """One top-level statement on its sheet."""

    def __init__(self, sheet: FixContext, unit: Statement) -> None:
        self.sheet = sheet
        self.unit = unit
        self._told: dict[tuple[Callable[..., object], cst.CSTNode], object] = {}

    @cached_property
    def _regions(self) -> CodeRegions:
        return CodeRegions(self.unit.module, self.unit.text)

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        tree = self.unit.tree
        return {child: node for node in (tree, *descend(tree)) for child in children(node)}

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node starts and ends in the text, without the parentheses around it."""
        region = self._regions.exactly(node)
        if region is None:
            raise NoFix
        return self.unit.start + region[0], self.unit.start + region[1]

    def around(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node starts and ends in the text, with the parentheses around it."""
        opening: Sequence[cst.CSTNode] = getattr(node, "lpar", ())
        closing: Sequence[cst.CSTNode] = getattr(node, "rpar", ())
        if not opening:
            return self.span(node)
        return self.span(opening[0])[0], self.span(closing[-1])[1]

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node, with the parentheses around it."""
        start, end = self.around(node)
        return self.sheet.text[start:end]

    def told(self, tell: Callable[[Node], Answer], node: Node) -> Answer:
        """What a function tells of a node; worked out once, however many findings ask for it."""
        key = (tell, node)
        if key not in self._told:
            self._told[key] = tell(node)
        return cast("Answer", self._told[key])

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What a node is directly a part of; None for the top-level statement itself."""
        return self._parents.get(node)

    def parents(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What a node is a part of, from the innermost outwards."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """The function in whose body a node stands."""
        below = node
        for above in self.parents(node):
            if isinstance(above, cst.FunctionDef) and above.body is below:
                return above
            below = above
        return None


FixMaker: TypeAlias = Callable[[FixContext], Fix | None]
"""How to mend a finding: worked out when the finding is reported. It may raise Unfit where there is no way."""
