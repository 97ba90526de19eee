"""Conversion of Markdown to HTML, for the pages of the rules.

It knows what the documentation of rules uses: headings, paragraphs, lists, fenced code, `code`, **bold**, *emphasis*
and [links](address). Python-Markdown would know more, and would be a dependency of every installation.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from html import escape
from typing import Final

_FENCE: Final = re.compile(r"\s*```(\w*)")
_HEADING: Final = re.compile(r"(#{1,4}) (.+)")
_ITEM: Final = re.compile(r"(?:[-*]|(\d+)\.) +(.*)")
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_MARKUP: Final = re.compile(
    r"\[(?P<text>[^]]+)\]\((?P<address>[^)\s]+)\)|\*\*(?P<bold>[^*]+)\*\*|\*(?P<emphasis>[^*\s][^*]*)\*"
    r"|\b(?P<rule>[A-Z]+\d{3})\b"
)


def to_html(markdown: str, pages: Container[str] = ()) -> str:
    """Return Markdown as HTML elements.

    `pages` are the codes of rules that have a page beside this one: where they are named, a link leads there.
    """
    return "".join(_blocks(markdown.splitlines(), pages))


def _blocks(lines: Sequence[str], pages: Container[str]) -> Iterator[str]:
    """Yield the HTML of the blocks that some lines of Markdown consist of."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif fence := _FENCE.match(line):
            end = next((row for row in range(at + 1, len(lines)) if lines[row].strip() == "```"), len(lines))
            code = "\n".join(lines[at + 1 : end])
            yield f'<pre tabindex="0"><code class="{fence[1] or "text"}">{escape(code)}\n</code></pre>\n'
            at = end + 1
        elif heading := _HEADING.match(line):
            level = len(heading[1])
            yield f"<h{level}>{_inline(heading[2], pages)}</h{level}>\n"
            at += 1
        else:
            end = _end_of_block(lines, at)
            if _ITEM.match(line):
                yield from _list(lines[at:end], pages)
            else:
                yield f"<p>{_inline(' '.join(part.strip() for part in lines[at:end]), pages)}</p>\n"
            at = end


def _end_of_block(lines: Sequence[str], start: int) -> int:
    """Return the index after the paragraph or the list that begins in a line: at the next blank or special line."""
    ends = (row for row in range(start + 1, len(lines)) if not lines[row].strip() or _begins_block(lines[row]))
    return next(ends, len(lines))


def _begins_block(line: str) -> bool:
    """Return whether a line begins code or is a heading, so that it ends the block before it."""
    return bool(_FENCE.match(line) or _HEADING.match(line))


def _list(lines: Sequence[str], pages: Container[str]) -> Iterator[str]:
    """Yield the HTML of a list. Lines that begin no item of their own continue the item before them."""
    items: list[list[str]] = []
    numbered = False
    for line in lines:
        if begin := _ITEM.match(line):
            numbered = begin[1] is not None
            items.append([begin[2]])
        else:
            items[-1].append(line.strip())
    tag = "ol" if numbered else "ul"
    yield f"<{tag}>\n"
    for item in items:
        yield f"<li>{_inline(' '.join(item), pages)}</li>\n"
    yield f"</{tag}>\n"


def _inline(text: str, pages: Container[str]) -> str:
    """Return the text of a block as HTML, with code, links and emphasis as elements."""
    parts, at = [], 0
    for code in _CODE.finditer(text):
        parts += [_marked_up(text[at : code.start()], pages), f"<code>{escape(code[2].strip())}</code>"]
        at = code.end()
    return "".join([*parts, _marked_up(text[at:], pages)])


def _marked_up(text: str, pages: Container[str]) -> str:
    """Return text without code as HTML."""

    def element(found: re.Match[str]) -> str:
        if found["text"]:
            return f'<a href="{found["address"]}">{found["text"]}</a>'
        if found["bold"]:
            return f"<strong>{found['bold']}</strong>"
        if found["emphasis"]:
            return f"<em>{found['emphasis']}</em>"
        rule = found["rule"]
        return f'<a href="{rule}.html">{rule}</a>' if rule in pages else rule

    return _MARKUP.sub(element, escape(text))
