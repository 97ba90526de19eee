from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

import libcst as cst
import pytest

import devlint.interpreter.driver.assembly  # noqa: F401 (importing it registers the handlers)
from devlint.interpreter.language.unknown_nodes import UNKNOWN_NODES
from devlint.interpreter.program.node_kinds import NODE_KINDS
from devlint.interpreter.state.frame import EXPRESSION_HANDLERS as EXPRESSION_HANDLERS
from devlint.interpreter.state.frame import STATEMENT_HANDLERS as STATEMENT_HANDLERS

NEWER_THAN_THE_OLDEST_LIBCST = {"LazyImport", "LazyImportFrom", "StarredDictComp", "TemplatedString"}


def concrete_types(*bases: type[cst.CSTNode]) -> Iterator[type[cst.CSTNode]]:
    """Yield the concrete subclasses of some libcst base classes."""
    pending: list[type[cst.CSTNode]] = list(bases)
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        # `dataclass(slots=True)` replaces a class by a copy, and the class it replaced stays a subclass of its base.
        is_replaced = getattr(sys.modules[kind.__module__], kind.__name__, None) is not kind
        if not inspect.isabstract(kind) and not is_replaced:
            yield kind


def by_name(*bases: type[cst.CSTNode]) -> dict[str, type[cst.CSTNode]]:
    return {kind.__name__: kind for kind in concrete_types(*bases)}


EXPRESSIONS = by_name(cst.BaseExpression)
STATEMENTS = by_name(cst.BaseSmallStatement, cst.BaseCompoundStatement)


def test_introspection_finds_the_types_of_libcst():
    assert {"Name", "Call", "Lambda", "GeneratorExp"} <= set(EXPRESSIONS)
    assert {"Assign", "Del", "With", "FunctionDef"} <= set(STATEMENTS)
    assert not any(name.startswith(("Base", "_")) for name in EXPRESSIONS | STATEMENTS)


@pytest.mark.parametrize("name", sorted(EXPRESSIONS))
def test_an_expression_type_is_either_handled_or_deliberately_unknown(name: str):
    assert (EXPRESSIONS[name] in EXPRESSION_HANDLERS) != (name in UNKNOWN_NODES)


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_a_statement_type_is_either_handled_or_deliberately_unknown(name: str):
    assert (STATEMENTS[name] in STATEMENT_HANDLERS) != (name in UNKNOWN_NODES)


@pytest.mark.parametrize("name", sorted(EXPRESSIONS | STATEMENTS))
def test_the_walkers_over_names_know_a_type_or_it_is_deliberately_unknown(name: str):
    assert ((EXPRESSIONS | STATEMENTS)[name] in NODE_KINDS) != (name in UNKNOWN_NODES)


def test_deliberately_unknown_types_exist_and_have_a_reason():
    assert UNKNOWN_NODES.keys() - (EXPRESSIONS | STATEMENTS).keys() <= NEWER_THAN_THE_OLDEST_LIBCST
    assert all(UNKNOWN_NODES.values())
