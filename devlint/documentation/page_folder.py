"""The folder of the user with the documentation pages of all rules as HTML, for browsers and for links in editors.

No website of devlint exists, so links lead to these pages. They are made anew from the installed devlint whenever
somebody asks for one.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final

from devlint.documentation.markdown_html import to_html
from devlint.documentation.rule_page import rule_page
from devlint.rule_metadata import RuleMetadata
from devlint.version import __version__

INDEX: Final = "index.html"
"""The file with the list of all rules."""


def write_pages(rules: Sequence[RuleMetadata]) -> Path:
    """Write the page of each rule (`DEV101.html`) and the list of them, and return the folder.

    Raises OSError if that is not possible.
    """
    folder = user_cache_folder() / "devlint" / __version__ / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    style = files("devlint.documentation").joinpath("page.css").read_text("utf-8")
    codes = {rule.code for rule in rules}
    pages = {f"{rule.code}.html": rule_html(rule, codes, style) for rule in rules}
    for name, text in {**pages, INDEX: _index_html(rules, style)}.items():
        _write(folder / name, text)
    return folder


def rule_html(rule: RuleMetadata, pages: AbstractSet[str], style: str) -> str:
    """Return the page of a rule as HTML, with links to the other rules that have pages."""
    text = to_html(rule_page(rule), pages - {rule.code})
    body = f'<nav><a href="{INDEX}">All rules</a></nav>\n<main>\n{text}</main>\n'
    return _document(f"{rule.code} {rule.name}", body, style)


def user_cache_folder() -> Path:
    """Return the folder in which programs of this user keep what they can make again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _index_html(rules: Sequence[RuleMetadata], style: str) -> str:
    """Return the list of the rules as HTML."""
    rows = "".join(
        f'<tr><td><a href="{rule.code}.html">{rule.code}</a></td><td>{escape(rule.name)}</td>'
        f"<td>{escape(rule.facts)}</td></tr>\n"
        for rule in rules
    )
    head = "<tr><th>Code</th><th>Name</th><th>Severity</th></tr>\n"
    return _document("Rules", f"<main>\n<h1>Rules</h1>\n<table>\n{head}{rows}</table>\n</main>\n", style)


def _document(title: str, body: str, style: str) -> str:
    """Return an HTML document with a title, a body and a style sheet."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} (devlint)</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}"
        f"<footer>devlint {__version__}</footer>\n</body>\n</html>\n"
    )


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all, unless it holds the text already: another process may be reading it."""
    data = text.encode()
    if path.is_file() and path.read_bytes() == data:
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
