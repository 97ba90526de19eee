"""The command `devlint rule`, which explains devlint's rules to the user."""

from __future__ import annotations

import json

import click

from devlint.cli import shell_completion
from devlint.cli.output_streams import write_stdout
from devlint.config.config_error import unknown_name_message
from devlint.linter.rule_listing import all_rule_metadata, find_rule_metadata
from devlint.rule_metadata import RuleMetadata


@click.command()
@click.argument("rule", required=False, metavar="[CODE|NAME]", shell_complete=shell_completion.complete_rules)
@click.option("--all", "every", is_flag=True, help="Explain all rules.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the explanation.",
)
def rule(rule: str | None, every: bool, output_format: str) -> None:
    """Explain a rule: what it finds, why that is bad, and what to write instead."""
    if every == (rule is not None):
        raise click.UsageError("give a rule's code or name, or --all")
    if rule is None:
        rule_metadata = list(all_rule_metadata())
    else:
        found = find_rule_metadata(rule)
        if found is None:
            known = [key for each in all_rule_metadata() for key in (each.code, each.name)]
            raise click.UsageError(unknown_name_message("rule", rule, known))
        rule_metadata = [found]
    if output_format == "json":
        objects = [_to_json_object(metadata) for metadata in rule_metadata]
        write_stdout([json.dumps(objects if every else objects[0], indent=2), "\n"], color=False)
    else:
        write_stdout(["\n".join(_to_text(metadata) for metadata in rule_metadata)], color=False)


def _to_text(metadata: RuleMetadata) -> str:
    """Return the explanation of a rule as Markdown."""
    facts = [metadata.severity.value, "on by default" if metadata.default else "off by default"]
    facts.append("fixable" if metadata.fixable else "without a fix")
    return f"# {metadata.name} ({metadata.code})\n\n{', '.join(facts)}\n\n{metadata.doc.rstrip()}\n"


def _to_json_object(metadata: RuleMetadata) -> dict[str, object]:
    """Return the description of a rule as a dict that can be written as JSON."""
    return {
        "code": metadata.code,
        "name": metadata.name,
        "severity": metadata.severity.value,
        "default": metadata.default,
        "fixable": metadata.fixable,
        "summary": metadata.summary,
        "doc": metadata.doc,
    }
