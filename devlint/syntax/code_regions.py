"""Computation of the offsets at which libcst nodes stand in the text from which they were parsed.

The code of the tree is generated once while its characters are counted. The generated code is then aligned with the
text, because libcst does not give back every character.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import libcst as cst
from libcst._nodes.internal import CodegenState

from devlint.syntax.source import SourceError

# The innermost parentheses of these types belong to the expression. libcst keeps them in the same two fields as the
# parentheses around the expression.
_PARENTHESIZED = (cst.Tuple, cst.GeneratorExp, cst.MatchTuple)
# Characters of the text that libcst does not generate again: continuations where an indentation is expected, form feeds
# before the first token, the blanks in `except (A, B) :`.
_DROPPED = re.compile(r"[ \t\f\r\n\\]+")
# The stack frames to allow for libcst's code generation, which recurses with two calls for every level of the tree.
# Adjacent string literals are nested in libcst's tree, while Python sees a single literal.
_CODEGEN_FRAMES = 10_000
_NOTHING: AbstractContextManager[None] = nullcontext()


def code_regions(module: cst.Module, nodes: Collection[cst.CSTNode], text: str) -> dict[cst.CSTNode, tuple[int, int]]:
    """Return the offsets at which each of some libcst nodes starts and ends in the text of a module.

    `text` is the text from which `module` was parsed.
    """
    regions = CodeRegions(module, text, nodes)
    return {node: regions.of(node) for node in nodes}


class CodeRegions:
    """The offsets at which nodes of a libcst module start and end in the text from which it was parsed.

    Only the nodes in `nodes` can be looked up; if that is None, every node of the module can. Raises SourceError if the
    code is nested too deeply.
    """

    def __init__(self, module: cst.Module, text: str, nodes: Collection[cst.CSTNode] | None = None) -> None:
        self._state = _CountingState(module, nodes)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + _CODEGEN_FRAMES)
        try:
            module._codegen(self._state)
        except RecursionError:
            raise SourceError("the code is nested too deeply") from None
        finally:
            sys.setrecursionlimit(limit)
        self._text = text
        self._code = "".join(self._state.tokens)
        self._alignment = _align(self._code, text)

    def of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the start and end offsets of a libcst node in the text.

        The parentheses around an expression are left out.
        """
        return self._in_text(*_trimmed(self._code, *self._state.region(node)))

    def exactly(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Return the start and end offsets of a libcst node in the text.

        Return None if the text between them differs from the node's code by more than white space: such a region must
        not be edited. Also return None for a node that was not recorded.
        """
        if not self._state.has(node):
            return None
        start, end = _trimmed(self._code, *self._state.region(node))
        first, last = self._in_text(start, end)
        same = _DROPPED.sub("", self._code[start:end]) == _DROPPED.sub("", self._text[first:last])
        return (first, last) if same else None

    def _in_text(self, start: int, end: int) -> tuple[int, int]:
        """Convert start and end offsets in libcst's generated code to offsets in the original text."""
        alignment = self._alignment
        return _aligned(start, alignment), _aligned(max(start, end - 1), alignment) + min(1, end - start)


class _EveryNode(set[int]):
    """A set that claims to contain the identity of every node, for recording all nodes."""

    def __contains__(self, _: object) -> bool:
        return True


class _CountingState(CodegenState):
    """A libcst code generation state that records at which offsets of the generated code chosen nodes start and end."""

    def __init__(self, module: cst.Module, nodes: Collection[cst.CSTNode] | None) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.count = 0
        self._wanted = _EveryNode() if nodes is None else {id(node) for node in nodes}
        self._open: list[int] = []
        self._outer: dict[int, tuple[int, int]] = {}
        self._syntactic: dict[int, tuple[int, int]] = {}
        for node in nodes or ():
            if isinstance(node, _PARENTHESIZED) and node.lpar:
                self._wanted |= {id(node.lpar[-1]), id(node.rpar[0])}
            if isinstance(node, cst.Param):
                self._wanted.add(id(_last_part(node)))
            if isinstance(comma := getattr(node, "comma", None), cst.Comma):
                self._wanted.add(id(comma))

    def has(self, node: cst.CSTNode) -> bool:
        """Return whether libcst has generated code for a node, and its offsets were recorded."""
        return id(node) in self._outer

    def region(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the start and end offsets of a node in the code that libcst generates.

        The parentheses around an expression are left out, but those that belong to a tuple or generator expression are
        not.
        """
        if isinstance(node, _PARENTHESIZED) and node.lpar:
            return self._outer[id(node.lpar[-1])][0], self._outer[id(node.rpar[0])][1]
        start, end = self._syntactic.get(id(node)) or self._outer[id(node)]
        if isinstance(node, cst.Param):
            end = self._outer[id(_last_part(node))][1]
        comma = self._outer.get(id(getattr(node, "comma", None)))
        if comma is not None and comma[0] < end <= comma[1]:
            end = comma[0]
        return start, end

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.count += len(value)

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self._wanted:
            self._open.append(self.count)

    def after_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self._wanted:
            self._outer[id(node)] = (self._open.pop(), self.count)

    def record_syntactic_position(  # type: ignore[override]
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> AbstractContextManager[None]:
        if id(node) not in self._wanted:
            return _NOTHING
        return self._recording(node, start_node, end_node)

    @contextmanager
    def _recording(
        self, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> Iterator[None]:
        # A compound statement is bounded by nodes inside it, whose code is generated before the `yield` returns.
        """Record the start and end offsets of a node while libcst generates its code inside a `with` block."""
        self._wanted.update(id(bound) for bound in (start_node, end_node) if bound is not None)
        start = self.count
        yield
        end = self.count
        if start_node is not None:
            start = self.region(start_node)[0]
        if end_node is not None:
            end = self.region(end_node)[1]
        self._syntactic[id(node)] = (start, end)


def _last_part(parameter: cst.Param) -> cst.CSTNode:
    """Return the last syntax node of a function parameter: its default, its annotation, or its name.

    libcst itself takes only the name for the region of a parameter.
    """
    return parameter.default or parameter.annotation or parameter.name


def _trimmed(code: str, start: int, end: int) -> tuple[int, int]:
    """Return a region without the white space at its ends, which libcst includes for nodes other than expressions."""
    inner = code[start:end]
    return start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())


def _align(code: str, text: str) -> list[tuple[int, int]]:
    """Return the offsets at which libcst's generated code and the original text diverge.

    Each pair is an offset in the generated code, and the number of characters by which the text is ahead from there on.
    """
    shifts = [(0, 0)]
    at = shift = 0
    while not text.startswith(code[at:], at + shift):
        while code[at : at + 1] == text[at + shift : at + shift + 1]:
            at += 1
        if code[at] == "\f":
            # A form feed before the indentation of a block becomes part of every indentation in it.
            at, shift = at + 1, shift - 1
            shifts.append((at, shift))
            continue
        dropped = _DROPPED.match(text, at + shift)
        # Skip as few characters as possible, up to the next one that the generated code has.
        end = text.find(code[at], at + shift, dropped.end() + 1) if dropped else -1
        if end < 0:
            break
        shift = end - at
        shifts.append((at, shift))
    return shifts


def _aligned(offset: int, shifts: list[tuple[int, int]]) -> int:
    """Convert an offset in libcst's generated code to an offset in the original text."""
    return offset + shifts[bisect_right(shifts, (offset, sys.maxsize)) - 1][1]
