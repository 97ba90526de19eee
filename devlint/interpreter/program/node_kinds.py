"""What each libcst node type does to names: the one table that all code that looks for names in syntax reads.

Such code tests `type(node)` against a set of exact types before it matches patterns, because most nodes are in no such
set and the test is quick. A test checks that the table has every statement and expression type of libcst, except those
in `devlint.interpreter.language.unknown_nodes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Flag, auto
from typing import Final

import libcst as cst


class NodeKind(Flag):
    """Flags that say what a syntax node does to names: binds them, runs a loop, opens a scope and so on.

    What the children of the node do is not included.
    """

    PLAIN = 0
    """Nothing: walkers visit the children in the order of the text."""
    IDENTIFIER = auto()
    """Holds an identifier: a variable, or an attribute, keyword or parameter name, which is no read of a variable."""
    BINDS = auto()
    """Binds names."""
    ASSIGNS = auto()
    """Evaluates its value before it binds its targets, unlike the order of the text."""
    MUTATES = auto()
    """May change in place the object that a name refers to."""
    LOOP = auto()
    """A loop statement: runs its body several times."""
    COMPREHENSION = auto()
    """A comprehension: binds its targets in a scope of its own and evaluates its element several times."""
    FUNCTION = auto()
    """Has a body that runs when it is called, in a scope of its own."""
    CLASS = auto()
    """Has a body that runs at once, in a scope of its own."""


PLAIN: Final = NodeKind.PLAIN

NODE_KINDS: Final[Mapping[type[cst.CSTNode], NodeKind]] = {
    # Expressions
    cst.Attribute: NodeKind.IDENTIFIER,
    cst.Await: PLAIN,
    cst.BinaryOperation: PLAIN,
    cst.BooleanOperation: PLAIN,
    cst.Call: NodeKind.MUTATES,
    cst.Comparison: PLAIN,
    cst.ConcatenatedString: PLAIN,
    cst.Dict: PLAIN,
    cst.DictComp: NodeKind.COMPREHENSION,
    cst.Ellipsis: PLAIN,
    cst.Float: PLAIN,
    cst.FormattedString: PLAIN,
    cst.GeneratorExp: NodeKind.COMPREHENSION,
    cst.IfExp: PLAIN,
    cst.Imaginary: PLAIN,
    cst.Integer: PLAIN,
    cst.Lambda: NodeKind.FUNCTION,
    cst.List: PLAIN,
    cst.ListComp: NodeKind.COMPREHENSION,
    cst.Name: NodeKind.IDENTIFIER,
    cst.NamedExpr: NodeKind.BINDS | NodeKind.ASSIGNS,
    cst.Set: PLAIN,
    cst.SetComp: NodeKind.COMPREHENSION,
    cst.SimpleString: PLAIN,
    cst.Subscript: PLAIN,
    cst.Tuple: PLAIN,
    cst.UnaryOperation: PLAIN,
    cst.Yield: PLAIN,
    # Statements
    cst.AnnAssign: NodeKind.BINDS | NodeKind.ASSIGNS,
    cst.Assert: PLAIN,
    cst.Assign: NodeKind.ASSIGNS,
    cst.AugAssign: NodeKind.BINDS | NodeKind.ASSIGNS | NodeKind.MUTATES,
    cst.Break: PLAIN,
    cst.ClassDef: NodeKind.BINDS | NodeKind.CLASS,
    cst.Continue: PLAIN,
    cst.Del: PLAIN,
    cst.Expr: NodeKind.MUTATES,
    cst.For: NodeKind.BINDS | NodeKind.LOOP,
    cst.FunctionDef: NodeKind.BINDS | NodeKind.FUNCTION,
    cst.Global: PLAIN,
    cst.If: PLAIN,
    cst.Import: PLAIN,
    cst.ImportFrom: PLAIN,
    cst.Match: PLAIN,
    cst.Nonlocal: PLAIN,
    cst.Raise: PLAIN,
    cst.Return: PLAIN,
    cst.Try: PLAIN,
    cst.TryStar: PLAIN,
    cst.While: NodeKind.LOOP,
    cst.With: PLAIN,
    # Parts of statements and expressions
    cst.Arg: NodeKind.IDENTIFIER,
    cst.AsName: NodeKind.BINDS,
    cst.AssignTarget: NodeKind.BINDS | NodeKind.MUTATES,
    cst.CompFor: NodeKind.BINDS,
    cst.ImportAlias: NodeKind.BINDS,
    cst.MatchAs: NodeKind.BINDS,
    cst.MatchStar: NodeKind.BINDS,
    cst.Param: NodeKind.IDENTIFIER,
}
"""The kinds of every node type; a part of a statement or expression that is not here is plain."""


def _types_of(kinds: NodeKind) -> frozenset[type[cst.CSTNode]]:
    """Return the libcst node types that have at least one of the given `NodeKind` flags in this module's table."""
    return frozenset(node_type for node_type, kind in NODE_KINDS.items() if kind & kinds)


IDENTIFIERS: Final = _types_of(NodeKind.IDENTIFIER)
BINDERS: Final = _types_of(NodeKind.BINDS)
ASSIGNMENTS: Final = _types_of(NodeKind.ASSIGNS)
MUTATORS: Final = _types_of(NodeKind.MUTATES)
LOOPS: Final = _types_of(NodeKind.LOOP)
COMPREHENSIONS: Final = _types_of(NodeKind.COMPREHENSION)
FUNCTIONS: Final = _types_of(NodeKind.FUNCTION)
SCOPES: Final = _types_of(NodeKind.FUNCTION | NodeKind.CLASS)
