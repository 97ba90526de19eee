"""The documentation page of a rule as Markdown: what `devlint rule CODE` prints, with a real bug and an output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from json import loads
from typing import Final

from devlint.rule_metadata import RuleMetadata

STORIES: Final = "stories.json"
"""The file with one real bug for each rule of which one is known, by the rule's code."""
OUTPUTS: Final = "example_outputs.json"
"""The file with what a command of devlint prints of the example of each rule, by the rule's code."""
EXAMPLE_FILE: Final = "example.py"
"""The name of the file with the example, in the outputs."""
_SECTION: Final = re.compile(r"^(?=## )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Story:
    """A bug of a rule's kind in a public project: where it was, what it did, and where one can read of it."""

    project: str
    where: str
    what: str
    url: str | None


@dataclass(frozen=True, slots=True)
class ExampleOutput:
    """A command line of devlint on the example of a rule, and what it prints."""

    command: str
    output: str


def rule_page(metadata: RuleMetadata) -> str:
    """Return the documentation page of a rule as Markdown."""
    story, output = stories().get(metadata.code), example_outputs().get(metadata.code)
    intro, *sections = _SECTION.split(metadata.doc.rstrip() + "\n")
    page = [f"# {metadata.name} ({metadata.code})\n\n{metadata.facts}\n\n{intro.rstrip()}\n"]
    for section in sections:
        title = section.partition("\n")[0].removeprefix("## ")
        page.append(section.rstrip() + "\n")
        if title == "Why is this bad?" and story is not None:
            page.append(f"## A real bug\n{_told(story)}\n")
        if title == "Example" and output is not None:
            page.append(f"```text\n$ {output.command}\n{output.output.rstrip()}\n```\n")
    return "\n".join(page)


def _told(story: Story) -> str:
    """Return a bug of a public project as a paragraph of Markdown."""
    place = f"[{story.where}]({story.url})" if story.url else story.where
    return f"{story.what} ({story.project}, {place})"


@cache
def stories() -> dict[str, Story]:
    """Return the bugs of public projects by the codes of the rules."""
    return {code: Story(**told) for code, told in _data(STORIES).items()}


@cache
def example_outputs() -> dict[str, ExampleOutput]:
    """Return the outputs of the rules' examples by the codes of the rules."""
    return {code: ExampleOutput(**told) for code, told in _data(OUTPUTS).items()}


def _data(name: str) -> dict[str, dict[str, str]]:
    """Return the content of a file of this package."""
    content: dict[str, dict[str, str]] = loads(files("devlint.documentation").joinpath(name).read_text("utf-8"))
    return content
