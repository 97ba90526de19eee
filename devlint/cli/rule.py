"""`devlint rule`: what the rules are and what each one says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from devlint.cli import completion
from devlint.config.config_error import unknown_name_message

if TYPE_CHECKING:
    from devlint.rule_metadata import RuleCard


@click.command()
@click.argument("rule", required=False, metavar="[CODE|NAME]", shell_complete=completion.rules)
@click.option("--all", "every", is_flag=True, help="Tell of all rules.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How it is written."
)
def rule(rule: str | None, every: bool, output_format: str) -> None:
    """Explain a rule: what it finds, why that is bad, and what to write instead."""
    from devlint.cli.writing import write_out
    from devlint.linter.rule_loader import all_rules, find_rule
    from devlint.rule_metadata import RuleCard

    if every == (rule is not None):
        raise click.UsageError("give a rule's code or name, or --all")
    if rule is None:
        cards = [RuleCard.of(each) for each in all_rules()]
    else:
        found = find_rule(rule)
        if found is None:
            known = [key for each in all_rules() for key in (each.code, each.name)]
            raise click.UsageError(unknown_name_message("rule", rule, known))
        cards = [RuleCard.of(found)]
    if output_format == "json":
        objects = [_as_object(card) for card in cards]
        write_out([json.dumps(objects if every else objects[0], indent=2), "\n"], color=False)
    else:
        write_out(["\n".join(_as_text(card) for card in cards)], color=False)


def _as_text(card: RuleCard) -> str:
    facts = [card.severity.value, "on by default" if card.default else "off by default"]
    facts.append("fixable" if card.fixable else "without a fix")
    return f"# {card.name} ({card.code})\n\n{', '.join(facts)}\n\n{card.doc.rstrip()}\n"


def _as_object(card: RuleCard) -> dict[str, object]:
    return {
        "code": card.code,
        "name": card.name,
        "severity": card.severity.value,
        "default": card.default,
        "fixable": card.fixable,
        "summary": card.summary,
        "doc": card.doc,
    }
