"""The literals that a project itself passes, defaults to and asks for, by name: `dim=64`, `--dim 64`, `if kind == "a"`.

They are the values with which its code is meant to be used.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field

from devlint.confirm.source_files import ProjectSources, last_name

_LARGEST = 512
"""The largest number that is taken from a project: a driver shall be quick."""


@dataclass(frozen=True, slots=True)
class LiteralCall:
    """A call whose arguments are all literals: the positional ones and those by name, as texts."""

    positional: tuple[str, ...]
    named: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Literals:
    """What a project's files pass as literals: by the name of the parameter, and whole calls by what they call.

    `compared` holds the texts with which a variable or attribute of a name is compared.
    """

    by_name: dict[str, Counter[str]] = field(default_factory=dict)
    compared: dict[str, Counter[str]] = field(default_factory=dict)
    calls: dict[str, list[LiteralCall]] = field(default_factory=dict)

    def commonest(self, name: str) -> str | None:
        """Return the literal that the project gives most often to a name; None if there is none."""
        found = self.by_name.get(name) or self.compared.get(name)
        return found.most_common(1)[0][0] if found else None

    def choices(self, name: str) -> list[str]:
        """Return the texts that the project passes to a name or compares it with, the commonest first.

        Only what is compared with texts has any.
        """
        compared = self.compared.get(name)
        if not compared:
            return []
        passed = [text for text, _ in self.by_name.get(name, Counter()).most_common() if text[0] in "'\""]
        return list(dict.fromkeys([*passed, *(text for text, _ in compared.most_common())]))


def literals_of(sources: ProjectSources) -> Literals:
    """Return the literals of a project."""
    found = Literals()
    for path in sources.files:
        tree = sources.tree(path)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Call):
                _read_call(node, found)
            elif isinstance(node, ast.Compare):
                _read_comparison(node, found)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for name, default in _defaults(node):
                    _count(found, name, default)
    return found


def literal_text(node: ast.expr | None) -> str | None:
    """Return a literal as Python text; None for anything else, for None, and for what is too large for a driver."""
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if value is None or (isinstance(value, int | float) and abs(value) > _LARGEST) or len(repr(value)) > 80:
        return None
    return repr(value)


def _read_call(node: ast.Call, found: Literals) -> None:
    """Take the literals from a call."""
    name = last_name(node.func)
    if name == "add_argument":
        _read_option(node, found)
        return
    named = [(one.arg, literal_text(one.value)) for one in node.keywords]
    for key, text in named:
        if key is not None and text is not None:
            found.by_name.setdefault(key, Counter())[text] += 1
    positional = [literal_text(one) for one in node.args]
    if name and (named or positional) and None not in positional and all(key and text for key, text in named):
        given = tuple((str(key), str(text)) for key, text in named)
        calls = found.calls.setdefault(name, [])
        call = LiteralCall(tuple(map(str, positional)), given)
        if call not in calls:
            calls.append(call)


def _read_comparison(node: ast.Compare, found: Literals) -> None:
    """Take the texts from `kind == "a"` and `self.kind in ("a", "b")`, whatever case is made of the name's value."""
    name = _compared_name(node.left)
    if not name or not isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
        return
    other = node.comparators[0]
    inside = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
    for one in inside:
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and (text := literal_text(one)):
            found.compared.setdefault(name, Counter())[text] += 1


def _compared_name(node: ast.expr) -> str:
    """Return the last name of what is compared, also of `kind.lower()`; the empty string for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "upper"):
        return last_name(node.func.value)
    return last_name(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _read_option(node: ast.Call, found: Literals) -> None:
    """Take the default of a command-line option, for the name that it has in the program."""
    flags = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    given = {one.arg: one.value for one in node.keywords}
    name = next((flag.lstrip("-").replace("-", "_") for flag in flags if flag.startswith("--")), "")
    action = given.get("action")
    if isinstance(action, ast.Constant) and action.value in ("store_true", "store_false"):
        found.by_name.setdefault(name, Counter())[str(action.value == "store_false")] += 1
    else:
        _count(found, name, given.get("default"))


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, ast.expr]]:
    """Return the parameters of a function that have defaults, with these."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    late = positional[len(positional) - len(spec.defaults) :]
    by_name = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return [
        *((one.arg, default) for one, default in zip(late, spec.defaults, strict=True)),
        *((one.arg, default) for one, default in by_name if default is not None),
    ]


def _count(found: Literals, name: str, node: ast.expr | None) -> None:
    """Count a literal for a name."""
    text = literal_text(node)
    if text is not None and name:
        found.by_name.setdefault(name, Counter())[text] += 1
