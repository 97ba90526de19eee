"""Loading of the rule classes: devlint's own from the package `devlint.rules`, those of others from entry points.

A third party's package offers rules by the entry point group `devlint.rules`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from devlint.rule import Rule
from devlint.rule_metadata import RuleMetadata

RULES_PACKAGE = "devlint.rules"
"""The package of devlint's own rules, and the entry point group of third parties' rules."""


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Return every rule class, devlint's own and those of third parties, sorted by rule code."""
    package = importlib.import_module(RULES_PACKAGE)
    modules = [
        importlib.import_module(f"{RULES_PACKAGE}.{found.name}") for found in pkgutil.iter_modules(package.__path__)
    ]
    loaded = [point.load() for point in third_party_rules()]
    rules = {rule for module in modules for rule in _rules_in(module)} | {rule for rule in loaded if _is_rule(rule)}
    return tuple(sorted(rules, key=lambda rule: rule.code))


@cache
def third_party_rules() -> tuple[EntryPoint, ...]:
    """Return the entry points by which other packages offer rules."""
    return tuple(entry_points(group=RULES_PACKAGE))


@cache
def all_rule_metadata() -> tuple[RuleMetadata, ...]:
    """Return the metadata of every rule, sorted by rule code: plain data for listings, reports and configuration."""
    return tuple(RuleMetadata.of(rule) for rule in all_rules())


@cache
def find_rule(code_or_name: str) -> type[Rule] | None:
    """Return the rule class with the given code (`DEV101`) or name (`mixed-device-op`).

    Returns None if there is no such rule.
    """
    return next((rule for rule in all_rules() if code_or_name in (rule.code, rule.name)), None)


def _is_rule(thing: object) -> bool:
    """Return whether an object is a class derived from `Rule` that defines its own rule code."""
    return inspect.isclass(thing) and issubclass(thing, Rule) and "code" in vars(thing)


def _rules_in(module: ModuleType) -> list[type[Rule]]:
    """Return the rule classes that a module defines."""
    return [thing for thing in vars(module).values() if _is_rule(thing) and thing.__module__ == module.__name__]
