"""What the shell offers where a rule or an output format is wanted."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from devlint.output import FORMATS


def rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The codes and names of rules; after a comma those of the next one."""
    from devlint.linter.rule_loader import all_rules

    known = {key: rule.name for rule in all_rules() for key in (rule.code, rule.name)}
    return _after_comma(known, incomplete)


def formats(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The output formats; after a comma those of the next report."""
    return _after_comma(dict.fromkeys(FORMATS, ""), incomplete)


def _after_comma(known: dict[str, str], incomplete: str) -> list[CompletionItem]:
    before, comma, begun = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + key, help=about or None)
        for key, about in known.items()
        if key.startswith(begun)
    ]
