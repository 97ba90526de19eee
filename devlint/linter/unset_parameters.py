"""The parameters of an application's functions that no call of the application sets, so that their defaults hold.

A constructor is a function that is called by the name of its class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.private_definitions import is_private_name
from devlint.linter.file_findings import NeededParameter
from devlint.linter.uncalled import UncalledDefinitions
from devlint.syntax.index import Statement
from devlint.syntax.text_words import has_word
from devlint.syntax.tree_walk import descend


class UnsetParameters:
    """The answers to the question whether no call of an application passes a parameter of a function.

    `given` are the given files by their names.
    """

    def __init__(self, uncalled: UncalledDefinitions, given: Mapping[str, ModuleInfo]) -> None:
        self._uncalled = uncalled
        self._given = given
        self._known: dict[NeededParameter, bool] = {}

    def is_unset(self, needed: NeededParameter) -> bool:
        """Return whether no call of the application passes a parameter of a function."""
        known = self._known.get(needed)
        if known is None:
            known = self._known[needed] = self._compute_unset(needed)
        return known

    def _compute_unset(self, needed: NeededParameter) -> bool:
        """Compute the answer of `is_unset`; of a function that is called under another name nothing is known.

        Nor is it of a parameter that the settings or documents of the project name. A private function is called by its
        own project only.
        """
        uncalled, module = self._uncalled, self._given.get(needed.filename)
        if module is None or not (
            uncalled.knows_callers(module, needed.function, is_method=needed.is_method)
            or uncalled.is_imported_by_none(module)
            or is_private_name(needed.function)
        ):
            return False
        if uncalled.is_named_elsewhere(needed.name):
            return False
        uses = [
            use
            for file in uncalled.files_naming(module, needed.function, is_method=needed.is_method)
            for unit in units_naming(file, needed.function)
            for use in uses_of(unit, needed.function, is_method=needed.is_method)
        ]
        return not any(use is None or _passes(use, needed.name, needed.position) for use in uses)


def uses_in_project(
    uncalled: UncalledDefinitions, module: ModuleInfo, name: str, *, is_method: bool
) -> Sequence[tuple[Statement, cst.Call | None]]:
    """Return all that names a function, class or method of an application: the statement, and the call or None.

    Nothing where that is not all known: others may call it, a text of the project names it, or code fetches it.
    """
    if not uncalled.knows_callers(module, name, is_method=is_method):
        return ()
    if uncalled.is_named_elsewhere(name, is_method=is_method):
        return ()
    files = uncalled.files_naming(module, name, is_method=is_method)
    if any(is_fetched(one, name) for one in files):
        return ()
    return [
        (unit, use)
        for file in files
        for unit in units_naming(file, name)
        for use in uses_of(unit, name, is_method=is_method)
    ]


def units_naming(module: ModuleInfo, name: str) -> Iterator[Statement]:
    """Yield the top-level statements of a file that mention a name."""
    if not has_word(module.source.text, name):
        # A file that is set aside need not be indexed then.
        return iter(())
    return (unit for unit in module.index.statements if name in unit.mentions)


def is_fetched(module: ModuleInfo, name: str) -> bool:
    """Return whether a file takes a function or method by a text: `getattr(x, "name")`."""
    return re.search(rf"getattr\([^()]*[\"']{re.escape(name)}[\"']", module.source.text) is not None


def uses_of(unit: Statement, name: str, *, is_method: bool) -> Iterator[cst.Call | None]:
    """Yield the calls of what has a name in a statement, and None for any other use of the name.

    Only an attribute names a method: a variable of that name is something else. The class that `super(Name, self)` asks
    for the next one is not used.
    """
    tree = unit.tree_or_none
    if tree is None:
        yield None
        return
    called: set[cst.CSTNode] = set()
    for node in (tree, *descend(tree)):
        match node:
            case (
                cst.Call(func=cst.Name(value=found) as func)
                | cst.Call(func=cst.Attribute(attr=cst.Name(value=found) as func))
            ) if found == name and not (is_method and node.func is func):
                called.add(func)
                yield node
            case cst.Call(func=cst.Name(value="super"), args=[cst.Arg(value=cst.Name(value=found) as own), _]) if (
                found == name
            ):
                called.add(own)
            case cst.Attribute(attr=cst.Name(value=found) as attribute) if is_method and found == name:
                if attribute not in called:
                    yield None
            case cst.FunctionDef(name=defined) | cst.ClassDef(name=defined) if defined.value == name:
                called.add(defined)
            case cst.ImportAlias(name=imported, asname=None):
                called |= {one for one in (imported, *descend(imported)) if isinstance(one, cst.Name)}
            case cst.Name(value=found) if found == name and node not in called and not is_method:
                yield None


def _passes(call: cst.Call, name: str, position: int) -> bool:
    """Return whether a call may pass a parameter, given the parameter's name and its position among the arguments."""
    positional = [one for one in call.args if one.keyword is None]
    return (
        len(positional) > position
        or any(one.star for one in call.args)
        or any(one.keyword is not None and one.keyword.value == name for one in call.args)
    )
