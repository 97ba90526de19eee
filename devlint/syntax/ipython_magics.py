"""Replacement of the IPython syntax in a notebook cell by Python code that has the same number of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from devlint.syntax.ast_parsing import try_parse_ast
from devlint.syntax.line_starts import NEWLINE

PYTHON_CELL_MAGICS = frozenset("capture debug devlint devlint_run memit prun time timeit wandb".split())
"""The cell magics whose cell holds Python that runs in the notebook's namespace; other magic cells become blank."""

_MAGIC_STATEMENT = re.compile(
    r"(?P<magic>%(?:time|timeit|memit|prun)(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]+)(?P<statement>[^\s-].*)"
)
_ASSIGNED = re.compile(r"(?P<target>[\w.,\[\]()'\"* \t]+=[ \t]*)[%!]")
_ESCAPE = re.compile(r"[%!?/,;]|(?:[%\w.*]|\[\d+\])+\?\??[ \t]*$")
_CELL_MAGIC = re.compile(r"%%(\w+)")
_TOKEN = re.compile(
    r"(?P<comment>#.*)|(?P<triple>\"{3}|'{3})|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|(?P<open>[(\[{])|(?P<close>[)\]}])"
)


def cell_as_python(cell: str) -> str:
    """Return the text of a notebook cell with IPython syntax replaced by Python.

    A cell that Python can parse stays unchanged, and so does a line that is neither Python nor IPython.
    """
    if try_parse_ast(cell) is not None:
        return cell
    lines = _LINE.findall(cell)
    magic = _CELL_MAGIC.match(cell.lstrip())
    if magic is None:
        return "".join(_without_escapes(lines))
    if magic[1] not in PYTHON_CELL_MAGICS:
        return "".join(_end_of(line) for line in lines)
    head = next(number for number, line in enumerate(lines) if line.strip())
    before, rest = lines[: head + 1], "".join(lines[head + 1 :])
    return "".join([*(_end_of(line) for line in before), cell_as_python(rest)])


_LINE = re.compile(rf"[^\r\n]*(?:{NEWLINE.pattern})|[^\r\n]+")


def _without_escapes(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a notebook cell, in which Python replaces each line of IPython syntax.

    A line is taken for IPython syntax only where a statement may begin.
    """
    state = _LineState()
    escaped = False
    for line in lines:
        code, end = line.rstrip("\r\n"), _end_of(line)
        if escaped:
            # This line continues the IPython line above, which ended with a backslash.
            escaped = code.endswith("\\")
            yield end
            continue
        replaced = _replaced(code) if state.begins_statement else None
        if replaced is None:
            state.read(code)
            yield line
        else:
            escaped = code.endswith("\\")
            yield replaced + end


def _replaced(line: str) -> str | None:
    """Return the Python code that replaces a line of IPython syntax, or None for a line of any other kind.

    The Python part of a line, such as the statement behind `%time`, keeps its columns.
    """
    code = line.lstrip(" \t")
    indentation = line[: len(line) - len(code)]
    timed = _MAGIC_STATEMENT.fullmatch(code)
    if timed and try_parse_ast(f"if 1: {timed['statement']}") is not None:
        return f"{indentation}{'if 1:':<{len(timed['magic'])}}{timed['statement']}"
    if _ESCAPE.match(code):
        return f"{indentation}pass"
    assigned = _ASSIGNED.match(code)
    return f"{indentation}{assigned['target']}get_ipython()" if assigned else None


def _end_of(line: str) -> str:
    """Return the line break at the end of a line, or "" if there is none."""
    return line[len(line.rstrip("\r\n")) :]


class _LineState:
    """A scanner of lines that knows whether the next line begins a statement.

    The next line begins no statement if it continues a string, a bracket or a line that ends with a backslash.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._quote: str | None = None
        self._continued = False

    @property
    def begins_statement(self) -> bool:
        """Whether the next line begins a statement, rather than continuing a string, a bracket or a line."""
        return self._depth == 0 and self._quote is None and not self._continued

    def read(self, line: str) -> None:
        """Scan a line of Python and update what is known of the strings, brackets and lines that it leaves open."""
        self._continued = False
        at = 0
        while at < len(line):
            if self._quote is not None:
                at = self._end_of_string(line, at)
                continue
            token = _TOKEN.search(line, at)
            if token is None:
                break
            if token["comment"]:
                return
            self._quote = token["triple"]
            self._depth = max(0, self._depth + bool(token["open"]) - bool(token["close"]))
            at = token.end()
        self._continued = self._quote is None and line.endswith("\\")

    def _end_of_string(self, line: str, at: int) -> int:
        """Return the offset at which the open string literal ends, or the end of the line if the string goes on."""
        end = re.compile(rf"(?:\\.|[^\\])*?{self._quote}").match(line, at)
        if end is None:
            return len(line)
        self._quote = None
        return end.end()
