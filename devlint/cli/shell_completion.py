"""Shell completion for command-line options whose values are rules or output formats."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from devlint.linter.rule_listing import all_rule_metadata
from devlint.output import FORMATS, MERGEABLE
from devlint.rule_metadata import GROUPS


def complete_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return shell completions, rule codes and rule names, for the last item of a comma-separated list of rules."""
    known = {key: rule.name for rule in all_rule_metadata() for key in (rule.code, rule.name)}
    return _complete_after_comma(known, incomplete)


def complete_selectors(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return shell completions for the last item of a list of selectors: rules, and the names of groups of rules."""
    groups = {group: f"all rules {prefix}xx" for group, prefix in GROUPS.items()}
    return [*_complete_after_comma(groups, incomplete), *complete_rules(context, parameter, incomplete)]


def complete_formats(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return shell completions for the last item of a comma-separated list of output formats."""
    return _complete_after_comma(dict.fromkeys(FORMATS, ""), incomplete)


def complete_merged_formats(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return shell completions for the last item of a list of output formats whose reports can be merged."""
    return _complete_after_comma(dict.fromkeys(MERGEABLE, ""), incomplete)


def _complete_after_comma(known: dict[str, str], incomplete: str) -> list[CompletionItem]:
    """Return shell completions for the last item of a comma-separated list that the user is typing.

    `known` maps each possible item to its help text.
    """
    before, comma, typed = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + key, help=about or None)
        for key, about in known.items()
        if key.casefold().startswith(typed.casefold())
    ]
