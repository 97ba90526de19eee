"""The addresses of the documentation pages of rules, to which the server leads its clients' users."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from devlint.documentation.page_folder import write_pages
from devlint.linter.rule_listing import all_rule_metadata


def rule_page_address(code: str) -> str | None:
    """Return the address of a rule's page; None if the rule is unknown or pages cannot be written."""
    folder = _folder()
    known = any(rule.code == code for rule in all_rule_metadata())
    return (folder / f"{code}.html").as_uri() if folder is not None and known else None


def write_rule_page(code: str) -> str | None:
    """Return the address of a rule's page as `rule_page_address` does, after writing the pages anew.

    They lie in a cache folder, which may have been emptied since they were last written.
    """
    _folder.cache_clear()
    return rule_page_address(code)


@cache
def _folder() -> Path | None:
    """Write the pages of all rules and return their folder; None if that is not possible."""
    try:
        return write_pages(all_rule_metadata())
    except OSError:
        return None
