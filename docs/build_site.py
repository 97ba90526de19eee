"""Build the documentation site: the pages of this folder, the README, and one page for each rule.

    pip install -e '.[docs]'
    python docs/build_site.py [FOLDER]     # build/site if no folder is given

The site needs no server and loads nothing from elsewhere: open index.html. The build fails on a link that leads
nowhere.

The generator is Zensical: its authors, who also make mkdocs-material, release it every week, a build takes a second, it
checks links itself and pulls in nine small packages. mkdocs, on which mkdocs-material stands, has had no release since
August 2024 but for the pre-releases of an incompatible version 2. Zensical is young: only `settings` below and the
command line at the end of `build` would change with another generator.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from devlint.documentation.rule_page import rule_page
from devlint.linter.rule_listing import all_rule_metadata

DOCS: Final = Path(__file__).resolve().parent
ROOT: Final = DOCS.parent
OTHERS: Final = {"README.md": "manual.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""The pages from the root of the repository, with their names on the site."""
SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Start": {
        "Why and when": "index.md",
        "Five-minute start": "start.md",
        "How sure is it?": "certainty.md",
        "Questions and troubles": "faq.md",
    },
    "Use": {
        "Manual": "manual.md",
        "Configuration": "configuration.md",
        "Set it up in a team": "team.md",
        "Fixes": "fixes.md",
        "Continuous integration": "ci.md",
        "Large projects": "scale.md",
        "Editors": "editors.md",
        "Cache": "cache.md",
        "From Python": "api.md",
    },
    "Run": {
        "The runtime companion": "runtime.md",
        "Confirm findings": "confirm.md",
        "Other accelerators": "portability.md",
    },
    "Libraries": {"Models for your library": "models.md", "The table of torch": "semantics.md"},
    "About": {
        "Gallery of real bugs": "gallery.md",
        "Comparison": "features.md",
        "Glossary": "glossary.md",
        "Contributing": "contributing.md",
        "Changes": "changelog.md",
    },
}
"""The pages of the site without those of the rules, by section and title, in their order."""
_AFTER_USE: Final = list(SECTIONS).index("Use") + 1
"""Where the section of the rules stands."""
_WORKER: Final = "https://unpkg.com/iframe-worker/shim"
"""The script that the generator's pages load from elsewhere, so that their search works from the disk."""
_WORKER_FILE: Final = "assets/javascripts/iframe-worker.js"
_STYLE: Final = "site.css"
_SKIPPED: Final = re.compile(r"(?P<skip>`+[^`]*`+|\[[^]]*\]\([^)]*\)|<[^>]*>)|\b(?P<code>DEV\d{3})\b")
_LINK: Final = re.compile(r"(\[(?:[^]`]|`[^`]*`)*\])\(([^)\s#]*)(#[^)\s]*)?\)")
_FENCE: Final = re.compile(r"\s*```")
_ITEM: Final = re.compile(r"([-*] +|\d+\. +)")


def pages() -> dict[str, str]:
    """Return the Markdown of each page of the site, by its path."""
    rules = all_rule_metadata()
    codes = {rule.code for rule in rules}
    written = {path.name: path for path in sorted(DOCS.glob("*.md"))}
    written |= {name: ROOT / path for path, name in OTHERS.items()}
    found = {
        name: _linked(_without_foreign_links(path.read_text(encoding="utf-8"), path.parent), codes, "rules/")
        for name, path in written.items()
    }
    for rule in rules:
        found[f"rules/{rule.code}.md"] = _linked(rule_page(rule), codes - {rule.code}, "")
    rows = [f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.summary} | {rule.facts} |" for rule in rules]
    head = ["# Rules", "", "| code | name | | |", "|---|---|---|---|"]
    found["rules/index.md"] = "\n".join([*head, *rows]) + "\n"
    return {name: _spaced(text) for name, text in found.items()}


def _without_foreign_links(text: str, folder: Path) -> str:
    """Return a page with links to other pages by their paths on the site; of links to other files, the text is left."""

    def link(found: re.Match[str]) -> str:
        shown, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target or not target:
            return found[0]
        path = (folder / target).resolve()
        name = path.name if path.parent == DOCS else OTHERS.get(path.relative_to(ROOT).as_posix())
        return f"{shown}({name}{anchor})" if name is not None else shown[1:-1]

    return "".join(part if code else _LINK.sub(link, part) for code, part in _blocks(text))


def _linked(text: str, codes: set[str], folder: str) -> str:
    """Return a page on which the codes of rules lead to the pages of the rules, which lie in a folder."""

    def link(found: re.Match[str]) -> str:
        code = found["code"]
        return f"[{code}]({folder}{code}.md)" if code in codes else found[0]

    return "".join(part if code else _SKIPPED.sub(link, part) for code, part in _blocks(text))


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a page, each with whether it must stay as it is: code blocks and headings."""
    inside = False
    part: list[str] = []
    for line in text.splitlines(keepends=True):
        fence = _FENCE.match(line) is not None
        if fence or line.startswith("#"):
            if part and not inside:
                yield False, "".join(part)
                part = []
            inside = inside ^ fence
            if inside:
                part.append(line)
            else:
                yield True, "".join([*part, line])
                part = []
        else:
            part.append(line)
    if part:
        yield inside, "".join(part)


def _spaced(text: str) -> str:
    """Return a page as Python-Markdown wants it: a blank line before lists, and what belongs to an item 4 spaces in."""
    lines: list[str] = []
    indent, inside = 0, False
    for line in text.splitlines():
        fence = _FENCE.match(line) is not None
        item = _ITEM.match(line) if not inside else None
        if item:
            if lines and lines[-1].strip() and (not indent or _FENCE.match(lines[-1])):
                lines.append("")
            indent = len(item[1])
        elif not inside and line.strip() and not line.startswith(" "):
            # A line that is not indented continues the item only if it follows at once.
            indent = indent if lines and lines[-1].strip() and not fence and not line.startswith("#") else 0
        shift = 4 - indent if indent and not item and line.startswith(" " * indent) else 0
        lines.append(" " * shift + line)
        inside = inside ^ fence
    return "\n".join(lines) + "\n"


def _navigation() -> str:
    """Return the sections and pages of the site in their order, as a value in TOML."""
    families: dict[str, dict[str, str]] = {}
    for rule in all_rule_metadata():
        topic = (rule.topic or "devlint itself").replace("-", " ")
        families.setdefault(topic[:1].upper() + topic[1:], {})[f"{rule.code} {rule.name}"] = f"rules/{rule.code}.md"
    sections = [f"{{ {json.dumps(name)} = {_entries(named)} }}" for name, named in SECTIONS.items()]
    listed = [f"{{ {json.dumps(name)} = {_entries(named)} }}" for name, named in families.items()]
    sections.insert(_AFTER_USE, f'{{ "Rules" = [{{ "All rules" = "rules/index.md" }}, {", ".join(listed)}] }}')
    return f"[{', '.join(sections)}]"


def _entries(pages: Mapping[str, str]) -> str:
    """Return pages by their titles as a list in TOML."""
    return f"[{', '.join(f'{{ {json.dumps(title)} = {json.dumps(path)} }}' for title, path in pages.items())}]"


def settings() -> str:
    """Return the configuration of the generator."""
    return f"""\
[project]
site_name = "devlint"
site_description = "Finds device-placement and dtype bugs in PyTorch code, without running it"
use_directory_urls = false
extra_css = ["{_STYLE}"]
nav = {_navigation()}

[project.theme]
font = false
features = ["navigation.sections", "navigation.footer", "content.code.copy", "toc.follow"]

# The generator stores the palette of the first visit. Only the first one here follows the system after that.
[[project.theme.palette]]
media = "(prefers-color-scheme)"
toggle.icon = "lucide/sun-moon"
toggle.name = "Switch to light colours"

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark colours"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to the colours of the system"

[project.plugins.offline]
"""


def build(target: Path) -> None:
    """Build the site into a folder, in place of what is there.

    Raises subprocess.CalledProcessError if a link leads nowhere, or if the generator is not installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, text in pages().items():
            path = Path(folder, "docs", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        shutil.copy(DOCS / _STYLE, Path(folder, "docs"))
        Path(folder, "zensical.toml").write_text(settings(), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=folder, check=True)
        _make_self_contained(Path(folder, "site"))
        if target.exists():
            shutil.rmtree(target)
        shutil.copytree(Path(folder, "site"), target)


def _make_self_contained(site: Path) -> None:
    """Let the pages load what they would load from elsewhere from the site itself, and leave out what needs a server.

    Links to a folder become links to the page in it: without a server, a browser would list the folder.
    """
    shutil.copy(DOCS / "iframe-worker.js", site / _WORKER_FILE)
    for name in ("404.html", "sitemap.xml"):
        (site / name).unlink(missing_ok=True)
    for page in site.rglob("*.html"):
        up = "../" * (len(page.relative_to(site).parts) - 1)
        text = page.read_text(encoding="utf-8").replace(f'"{_WORKER}"', f'"{up}{_WORKER_FILE}"')
        page.write_text(text.replace('href="./.."', 'href="../index.html"'), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "build" / "site", help="build/site by default")
    build(parser.parse_args().folder)
