"""What listings, reports and configuration need to know of all rules, without running the code of devlint's own.

Importing the rules imports the interpreter and libcst, which takes longer than a run that finds all its results in
the cache. So the metadata of devlint's own rules is read from their texts, in which it stands as literals. The rules of
third parties are imported: nothing says what their texts look like.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.diagnostic import Severity
from devlint.rule_metadata import RuleMetadata

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

RULES_PACKAGE = "devlint.rules"
"""The package of devlint's own rules, and the entry point group of third parties' rules."""


@cache
def third_party_rules() -> tuple[EntryPoint, ...]:
    """Return the entry points by which other packages offer rules."""
    # Imported here to keep `devlint rule CODE` fast: it takes a third of that command's time.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=RULES_PACKAGE))


@cache
def all_rule_metadata() -> tuple[RuleMetadata, ...]:
    """Return the metadata of every rule, devlint's own and those of third parties, sorted by rule code."""
    loaded = (point.load() for point in third_party_rules())
    others = [RuleMetadata.of(thing) for thing in loaded if isinstance(thing, type) and "code" in vars(thing)]
    own = (rule for path in own_rule_files() for rule in _rules_in(path))
    return tuple(sorted((*own, *others), key=lambda rule: rule.code))


def find_rule_metadata(code_or_name: str) -> RuleMetadata | None:
    """Return the metadata of the rule with the given code (`DEV101`) or name (`mixed-device-op`), in any case.

    Returns None if there is no such rule.
    """
    wanted = code_or_name.casefold()
    # The file of one of devlint's own rules bears its code and its name, so that the others need not be read.
    part = wanted.replace("-", "_")
    near = (rule for path in own_rule_files() if part in path.stem for rule in _rules_in(path))
    return _named(wanted, near) or _named(wanted, all_rule_metadata())


def _named(wanted: str, rules: Iterable[RuleMetadata]) -> RuleMetadata | None:
    """Return the rule with a code or a name in lower case, None if it is not among the rules."""
    return next((rule for rule in rules if wanted in (rule.code.casefold(), rule.name)), None)


def own_rule_modules() -> list[str]:
    """Return the full names of the modules in which devlint's own rules stand."""
    package = importlib.import_module(RULES_PACKAGE)
    return [f"{RULES_PACKAGE}.{found.name}" for found in pkgutil.iter_modules(package.__path__)]


def own_rule_files() -> Iterator[Path]:
    """Yield the files in which devlint's own rules stand, and the few beside them."""
    for folder in importlib.import_module(RULES_PACKAGE).__path__:
        yield from Path(folder).glob("*.py")


@cache
def _rules_in(path: Path) -> tuple[RuleMetadata, ...]:
    """Return the metadata of the rules in one of devlint's own files, read from its text."""
    classes = (statement for statement in ast.parse(path.read_bytes()).body if isinstance(statement, ast.ClassDef))
    described = ((_attributes(one), cleandoc(ast.get_docstring(one) or "")) for one in classes)
    return tuple(_metadata(attributes, text) for attributes, text in described if "code" in attributes)


def _attributes(rule: ast.ClassDef) -> Mapping[str, ast.expr]:
    """Return the expressions that the body of a class assigns to names, by name."""
    return {
        target.id: statement.value
        for statement in rule.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def _metadata(attributes: Mapping[str, ast.expr], documentation: str) -> RuleMetadata:
    """Return the metadata of a rule of which the attributes and the documentation are given.

    Raises ValueError if an attribute is not a literal, and KeyError if one is missing that has no default.
    """
    severity = attributes["severity"]
    if not isinstance(severity, ast.Attribute):
        raise ValueError(f"the severity of a rule must be a member of Severity, not {ast.unparse(severity)}")
    return RuleMetadata(
        code=ast.literal_eval(attributes["code"]),
        name=ast.literal_eval(attributes["name"]),
        severity=Severity[severity.attr],
        default=ast.literal_eval(attributes["default"]) if "default" in attributes else True,
        fixable=ast.literal_eval(attributes["fixable"]) if "fixable" in attributes else False,
        summary=documentation.partition("\n")[0],
        doc=documentation,
        info_by_name=ast.literal_eval(attributes["info_by_name"]) if "info_by_name" in attributes else False,
    )
