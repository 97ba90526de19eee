"""Parameters that the docstring of a function documents as a plain number, flag or text."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final

import libcst as cst

_DOCUMENTED: Final = re.compile(
    r"""
    ^[ \t]*(?:
        [:@]param[ \t]+(?P<first>[^:\n]*\S)[ \t]+(?P<a>\w+)[ \t]*:              # :param float p: text
        | [:@]param[ \t]+(?P<b>\w+)[ \t]*:[ \t]*\((?P<inside>[^)\n]*)\)         # :param p: (float) text
        | [:@]type[ \t]+(?P<c>\w+)[ \t]*:[ \t]*(?P<alone>[^\n]*)                # :type p: float
        | (?P<d>\w+)[ \t]*\((?P<google>[^)\n]*)\)[ \t]*:                        # p (float): text
        | (?P<e>\w+)[ \t]*:[ \t]*(?P<numpy>[^\n]*)                              # p : float
    )""",
    re.MULTILINE | re.VERBOSE,
)
"""A line of a docstring that gives the type of a parameter, in the style of Sphinx, Google or NumPy."""
_PLAIN: Final = re.compile(r"`*(?P<kind>float|int|bool|str)`*(?:[ \t]*,[ \t]*(?:optional|default\b[^,]*))*[ \t]*\.?")
"""What is written for a type that is a number, a flag or a text, and nothing else."""


def documented_types(function: cst.FunctionDef) -> dict[str, str]:
    """Return the parameters that a function's docstring says are a `float`, `int`, `bool` or `str`, with that type.

    A parameter to which it gives another type elsewhere is left out.
    """
    text = _docstring_source(function)
    if text is None:
        return {}
    found: defaultdict[str, set[str | None]] = defaultdict(set)
    for one in _DOCUMENTED.finditer(text):
        name, written = (given for given in one.groups() if given is not None)
        if one["first"] is not None:
            name, written = written, name
        plain = _PLAIN.fullmatch(written.strip())
        found[name].add(plain["kind"] if plain is not None else None)
    return {name: kind for name, kinds in found.items() if len(kinds) == 1 for kind in kinds if kind is not None}


def _docstring_source(function: cst.FunctionDef) -> str | None:
    """Return the docstring of a function as it is written in the file; None if there is none."""
    match function.body:
        case cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString(value=text))]), *_]):
            return text
    return None
