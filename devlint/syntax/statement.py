"""A top-level statement of a file: the names that it binds and mentions, and its libcst tree, parsed on demand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import libcst as cst

from devlint.syntax.libcst_parsing import try_parse_libcst
from devlint.syntax.semantic_tree.layout import complete_layout
from devlint.syntax.semantic_tree.tree import semantic_tree
from devlint.syntax.source import Source, SourceError
from devlint.syntax.text_words import is_used

StatementKind = Literal["function", "class", "import", "other"]

# libcst parses and generates code recursively, natively and in Python. Code written by people is nested far less.
MAX_DEPTH = 400


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that an import statement binds, and the module or attribute to which the name refers.

    `import a.b` binds `a` to module `a` (and loads `a.b`). `import a.b as c` binds `c` to module `a.b`. In both, the
    attribute is None. `from ..a import b as c` binds `c` to attribute `b` of module `a`, level 2; `from . import b` has
    the module "". `from a import *` has the name and the attribute "*".
    """

    name: str
    module: str
    attribute: str | None = None
    level: int = 0
    loads: str = ""


@dataclass(frozen=True, slots=True)
class StatementFacts:
    """Facts about a top-level statement, such as the names that it binds and mentions.

    One walk over the statement collects the facts, from an `ast` or a libcst tree alike.
    """

    kind: StatementKind
    name: str | None
    binds: frozenset[str]
    mentions: frozenset[str]
    imports: tuple[Binding, ...]
    globals: frozenset[str]
    bases: tuple[str, ...]
    depth: int


def import_binding(dotted: str, alias: str | None) -> Binding:
    """Return the `Binding` (the name and what it refers to) of `import dotted` or `import dotted as alias`."""
    if alias is not None:
        return Binding(alias, dotted, loads=dotted)
    package = dotted.partition(".")[0]
    return Binding(package, package, loads=dotted)


@dataclass(eq=False)
class Statement:
    """A top-level compound statement, or a top-level logical line with all the small statements on that line.

    `text` starts at the first token (the `@` of the first decorator) and ends with the line break of the last row.
    """

    facts: StatementFacts = field(repr=False)
    first_row: int
    last_row: int
    source: Source = field(repr=False)
    start: int
    end: int

    @property
    def kind(self) -> StatementKind:
        """The kind of the statement: "function", "class", "import" or "other".

        A logical line of several small statements has the kind that all of them share, else "other".
        """
        return self.facts.kind

    @property
    def name(self) -> str | None:
        """The name that a function or class definition defines, or None for other statements."""
        return self.facts.name

    @property
    def binds(self) -> frozenset[str]:
        """The names that the statement binds at module level.

        These include names bound within `if`, `try`, `for` and `with`, by `del` and by `:=`.
        """
        return self.facts.binds

    @property
    def mentions(self) -> frozenset[str]:
        """Every identifier, attribute name and keyword name used anywhere within the statement."""
        return self.facts.mentions

    @property
    def imports(self) -> tuple[Binding, ...]:
        """The names that module-level imports within the statement bind, with what they refer to, in text order."""
        return self.facts.imports

    @property
    def globals(self) -> frozenset[str]:
        """The names that functions inside the statement declare `global`."""
        return self.facts.globals

    @property
    def bases(self) -> tuple[str, ...]:
        """The bases of a class definition as written, such as `nn.Module`; "" for a base that is not a dotted name."""
        return self.facts.bases

    @property
    def too_deep(self) -> bool:
        """Whether the statement is nested too deeply to be parsed with libcst."""
        return self.facts.depth > MAX_DEPTH

    @property
    def text(self) -> str:
        """The source text of the statement."""
        return self.source.text[self.start : self.end]

    def starts_with(self, *beginnings: str) -> bool:
        """Return whether the text of the statement starts with one of some texts; the text is not copied for it."""
        return self.source.text.startswith(beginnings, self.start, self.end)

    def uses(self, name: str) -> bool:
        """Return whether the statement calls what a name stands for, or asks it for an attribute or an item."""
        return is_used(self.text, name)

    def move(self, source: Source, characters: int, rows: int) -> None:
        """Move the statement to another source that has the same characters at another offset.

        The parsed libcst tree is kept.
        """
        self.source = source
        self.start, self.end = self.start + characters, self.end + characters
        self.first_row, self.last_row = self.first_row + rows, self.last_row + rows

    @cached_property
    def tree(self) -> cst.SimpleStatementLine | cst.BaseCompoundStatement:
        """The libcst tree of the statement, made when it is first used.

        Only its nodes with meaning are sure to be those of the text. White space, comments, punctuation and the
        parentheses around expressions are libcst's defaults, until `module` is used for the first time. Raises
        SourceError if the statement cannot be parsed.
        """
        if "module" in self.__dict__:
            return self.module.body[0]
        self._refuse_deep_code()
        return semantic_tree(self.text) or self.module.body[0]

    @property
    def tree_or_none(self) -> cst.SimpleStatementLine | cst.BaseCompoundStatement | None:
        """The libcst tree of the statement; None where it cannot be parsed, as seldom happens to code that runs."""
        try:
            return self.tree
        except SourceError:
            return None

    @cached_property
    def module(self) -> cst.Module:
        """The statement as a libcst module of its own, exactly as in the text, with its indentation and line break.

        Its nodes are those of `tree`, which gets its white space, comments, punctuation and parentheses now. Only
        positions, texts and edits need them. Raises SourceError if libcst cannot parse the statement.
        """
        self._refuse_deep_code()
        module = try_parse_libcst(self.text)
        if module is None:
            # The position in libcst's error is not reliable.
            raise SourceError("libcst cannot parse the statement", self.first_row)
        tree = self.__dict__.get("tree")
        if len(module.body) != 1 or (tree is not None and not complete_layout(tree, module.body[0])):
            raise SourceError("libcst sees another statement here than Python does", self.first_row)
        return module if tree is None else module.with_changes(body=(tree,))

    def lay_out(self) -> None:
        """Give the nodes of the tree their white space and punctuation, if libcst can parse the statement."""
        with suppress(SourceError):
            _ = self.module

    @property
    def is_parsed(self) -> bool:
        """Whether the libcst tree of the statement has been made already."""
        return "tree" in self.__dict__

    def _refuse_deep_code(self) -> None:
        """Raise SourceError if the statement is nested too deeply to be parsed with libcst."""
        if self.too_deep:
            raise SourceError("the statement is nested too deeply", self.first_row)
