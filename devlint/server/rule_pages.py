"""The addresses of the documentation pages of rules, to which the server's clients lead their users."""

from __future__ import annotations

from functools import cache

from devlint.documentation.page_folder import write_pages
from devlint.linter.rule_listing import all_rule_metadata


@cache
def rule_page_address(code: str) -> str | None:
    """Return the address of a rule's page, as of when it was first asked for; None if there is no page."""
    return write_rule_page(code)


def write_rule_page(code: str) -> str | None:
    """Write the pages of all rules and return the address of one; None if pages cannot be written or the rule has none.

    Pages lie in a cache folder, which may have been emptied since they were last written.
    """
    try:
        page = write_pages(all_rule_metadata()) / f"{code}.html"
    except OSError:
        return None
    return page.as_uri() if page.is_file() else None
