"""Shell completion for options that take rules or output formats."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from devlint.output import FORMATS


def complete_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the codes and names of rules that complete a list of rules, separated by commas."""
    # Imported here since the registry loads all rules, and `--help` must be fast.
    from devlint.linter.rule_loader import all_rules

    known = {key: rule.name for rule in all_rules() for key in (rule.code, rule.name)}
    return _complete_after_comma(known, incomplete)


def complete_formats(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the output formats that complete a list of reports, separated by commas."""
    return _complete_after_comma(dict.fromkeys(FORMATS, ""), incomplete)


def _complete_after_comma(known: dict[str, str], incomplete: str) -> list[CompletionItem]:
    """Return completions of the last item of a comma-separated list; `known` maps items to help texts."""
    before, comma, typed = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + key, help=about or None)
        for key, about in known.items()
        if key.startswith(typed)
    ]
