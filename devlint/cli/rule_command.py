"""The command `devlint rule`, which explains and lists devlint's rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import click

from devlint.cli import shell_completion
from devlint.cli.output_streams import write_stdout
from devlint.config.rule_selection import UnknownSelectorError, selector_matches, suggested_rule
from devlint.linter.rule_listing import all_rule_metadata, find_rule_metadata
from devlint.rule_metadata import RuleMetadata


@click.command(short_help="Explain a rule, or list the rules.")
@click.argument("rule", required=False, metavar="[CODE|NAME|FAMILY]", shell_complete=shell_completion.complete_rules)
@click.option("--all", "every", is_flag=True, help="List all rules.")
@click.option("--open", "opened", is_flag=True, help="Show the page of the rule, or the list with --all, in a browser.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the explanation or the list.",
)
def rule(rule: str | None, every: bool, opened: bool, output_format: str) -> None:
    """Explain a rule: what it finds, why that is bad, and what to write instead.

    List a family of rules by the beginning of its codes, such as DEV1, and all rules with --all.
    """
    if every == (rule is not None):
        raise click.UsageError("give a rule's code or name, or --all")
    found = find_rule_metadata(rule) if rule is not None else None
    if opened:
        _open_page(rule, found)
        return
    if found is not None:
        told = json.dumps(_to_json_object(found), indent=2) if output_format == "json" else _to_text(found)
        write_stdout([told.rstrip("\n"), "\n"], color=False)
        return
    listed = all_rule_metadata() if rule is None else _family(rule)
    if output_format == "json":
        write_stdout([json.dumps([_to_json_object(each) for each in listed], indent=2), "\n"], color=False)
    else:
        write_stdout(_to_table(listed), color=False)


def _open_page(wanted: str | None, found: RuleMetadata | None) -> None:
    """Open the page of a rule, or the list of all rules if none is wanted, in a browser, and say where it is.

    Raises click.UsageError if there is no such rule, and click.ClickException if the page cannot be written.
    """
    # Imported here to keep `devlint rule CODE` fast.
    import webbrowser

    from devlint.documentation.page_folder import INDEX, write_pages

    if wanted is not None and found is None:
        raise click.UsageError(f"--open takes the code or the name of one rule, not `{wanted}`")
    try:
        page = write_pages(all_rule_metadata()) / (f"{found.code}.html" if found is not None else INDEX)
    except OSError as problem:
        raise click.ClickException(f"cannot write the pages: {problem}") from None
    write_stdout([f"{page}\n"], color=False)
    webbrowser.open(page.as_uri())


def _family(selector: str) -> list[RuleMetadata]:
    """Return the rules that a selector such as `DEV1` names.

    Raises click.UsageError if there are none.
    """
    rules = all_rule_metadata()
    matching = [each for each in rules if selector_matches(selector, each)]
    if not matching:
        raise click.UsageError(str(UnknownSelectorError(selector, suggested_rule(selector, rules))))
    return matching


def _to_table(rules: Sequence[RuleMetadata]) -> Iterator[str]:
    """Yield the lines of a table of rules: code, name, severity, whether it is on by default, whether it has a fix."""
    width = max(len(each.name) for each in rules)
    for each in rules:
        state = "on" if each.default else "off"
        line = (
            f"{each.code}  {each.name:{width}}  {each.severity.value:7}  {state:3}  {'fixable' if each.fixable else ''}"
        )
        yield line.rstrip() + "\n"


def _to_text(metadata: RuleMetadata) -> str:
    """Return the explanation of a rule as Markdown."""
    return f"# {metadata.name} ({metadata.code})\n\n{metadata.facts}\n\n{metadata.doc.rstrip()}\n"


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
