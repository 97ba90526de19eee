"""Loading of the rule classes: devlint's own from the package `devlint.rules`, those of others from entry points.

A third party's package offers rules by the entry point group `devlint.rules`.
"""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from types import ModuleType

from devlint.linter.rule_listing import own_rule_modules, third_party_rules
from devlint.rule import Rule


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Return every rule class, devlint's own and those of third parties, sorted by rule code."""
    modules = [importlib.import_module(name) for name in own_rule_modules()]
    loaded = [point.load() for point in third_party_rules()]
    rules = {rule for module in modules for rule in _rules_in(module)} | {rule for rule in loaded if _is_rule(rule)}
    return tuple(sorted(rules, key=lambda rule: rule.code))


def _is_rule(thing: object) -> bool:
    """Return whether an object is a class derived from `Rule` that defines its own rule code."""
    return inspect.isclass(thing) and issubclass(thing, Rule) and "code" in vars(thing)


def _rules_in(module: ModuleType) -> list[type[Rule]]:
    """Return the rule classes that a module defines."""
    return [thing for thing in vars(module).values() if _is_rule(thing) and thing.__module__ == module.__name__]
