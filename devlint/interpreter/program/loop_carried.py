"""Loop-carried names: those that an iteration of a loop may read before it binds them."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo
from devlint.syntax.tree_walk import children, descend, names_in_target


def loop_carried_names(loop: cst.For | cst.While, function: FunctionInfo) -> frozenset[str]:
    """Return the names that an iteration of a loop in `function` reads, or may read, before it has bound them.

    The names used by functions nested in `function` are included, since the loop may call those at any time.
    """
    reading = _ReadBeforeBinding()
    if isinstance(loop, cst.For):
        reading.block(loop.body, set(names_in_target(loop.target)))
    else:
        reading.read(loop.test, set())
        reading.block(loop.body, set())
    return frozenset(reading.exposed | function.captured_names)


def names_in(node: cst.CSTNode) -> Iterable[str]:
    """Yield the variable names that occur in a syntax node, without the names of attributes and keywords."""
    pending = [node]
    while pending:
        one = pending.pop()
        kind = type(one)
        if kind is cst.Name:
            yield one.value  # type: ignore[attr-defined]
        elif kind is cst.Attribute or kind is cst.Arg:
            pending.append(one.value)  # type: ignore[attr-defined]
        else:
            pending.extend(children(one))


class _ReadBeforeBinding:
    """A walk over a block of code that collects the names that some path may read before it has bound them.

    Each method takes the set of names that are surely bound when its piece of code starts, and returns the set of those
    that are surely bound when it ends.
    """

    def __init__(self) -> None:
        self.exposed: set[str] = set()

    def read(self, node: cst.CSTNode | None, bound: set[str]) -> None:
        """Count every name in a syntax node as read: collect those names that are not yet surely bound."""
        if node is not None:
            self.exposed.update(name for name in names_in(node) if name not in bound)

    def block(self, node: cst.BaseSuite | cst.Else | cst.Finally | cst.If | None, bound: set[str]) -> set[str]:
        """Walk the statements of a block in order, and return the names that are surely bound after it."""
        if node is None:
            return bound
        if isinstance(node, cst.If):
            return self._if(node, bound)
        suite = node.body if isinstance(node, (cst.Else, cst.Finally)) else node
        for statement in suite.body:
            bound = self._statement(statement, bound)
        return bound

    def _statement(self, node: cst.CSTNode, bound: set[str]) -> set[str]:
        """Record the names that a statement reads before they are bound; return the names that are bound after it.

        `bound` are the names that are surely bound before it. A statement of a kind without a case here is assumed to
        read every name in it and to bind none.
        """
        match node:
            case cst.SimpleStatementLine(body=body):
                for one in body:
                    bound = self._statement(one, bound)
                return bound
            case cst.Assign(targets=targets, value=value):
                self.read(value, bound)
                for target in targets:
                    bound = self._bind(target.target, bound)
                return bound
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                self.read(value, bound)
                return self._bind(target, bound)
            case cst.If():
                return self._if(node, bound)
            case cst.With(items=items, body=body):
                for item in items:
                    self.read(item.item, bound)
                    if item.asname is not None:
                        bound = self._bind(item.asname.name, bound)
                return self.block(body, bound)
            case cst.For(target=target, iter=iterated, body=body, orelse=orelse):
                self.read(iterated, bound)
                self.block(body, bound | set(names_in_target(target)))
                self.block(orelse, bound)
                return bound
            case cst.While(test=test, body=body, orelse=orelse):
                self.read(test, bound)
                self.block(body, bound)
                self.block(orelse, bound)
                return bound
            case cst.Try() | cst.TryStar():
                return self._try(node, bound)
        self.read(node, bound)
        return bound

    def _bind(self, target: cst.BaseExpression, bound: set[str]) -> set[str]:
        """Return the given bound names together with the names that an assignment target binds.

        The objects in subscript and attribute targets (`x` in `x[0] = value`) count as read.
        """
        names = set(names_in_target(target))
        if not names:
            self.read(target, bound)
        for one in descend(target):
            if isinstance(one, (cst.Subscript, cst.Attribute)):
                self.read(one, bound)
        return bound | names

    def _if(self, node: cst.If, bound: set[str]) -> set[str]:
        """Walk both branches of an `if`; only names that both branches bind are surely bound afterwards."""
        self.read(node.test, bound)
        return self.block(node.body, bound) & self.block(node.orelse, bound)

    def _try(self, node: cst.Try | cst.TryStar, bound: set[str]) -> set[str]:
        """Walk a `try` statement; its handlers may run before the body has bound anything."""
        after = self.block(node.orelse, self.block(node.body, bound))
        for handler in node.handlers:
            self.read(handler.type, bound)
            after = after & self.block(handler.body, bound)
        return self.block(node.finalbody, after & bound)
