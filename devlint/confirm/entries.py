"""Where to call a project's code so that it comes to what a finding says: functions and methods, the best one first."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from devlint.confirm.source_files import Entry, Function, ProjectSources, last_name
from devlint.diagnostic import OF_CALLERS, Diagnostic, Region
from devlint.runtime.failure_places import failure_region
from devlint.runtime.report_wording import is_test_file

Call = tuple[Entry, Function]
"""An entry, and the function or method that a driver calls."""
_NOT_CALLED = frozenset({"__init__", "__post_init__", "__new__", "setup"})
"""Methods that run when an instance is built; something else is called then."""


def calls_for(finding: Diagnostic, sources: ProjectSources) -> list[Call]:
    """Return what a driver may call to come to a finding, the best first.

    That is the function whose caller decides where a tensor is, then those where the story begins and where it ends.
    For a method of a module that is its `forward` too. Functions of the same file that call these come last.
    """
    found: dict[tuple[Path, str, str], Call] = {}
    for region in _regions(finding):
        path = Path(os.path.realpath(region.filename))
        entry = sources.entry_at(path, region.start.row) if path.is_relative_to(sources.root) else None
        for call in _calls(entry, sources) if entry is not None else ():
            owner = call[0].owner.name if call[0].owner else ""
            found.setdefault((call[0].file, owner, call[1].name), call)
    for call in list(found.values()):
        for caller in _callers(call, sources):
            owner = caller[0].owner.name if caller[0].owner else ""
            found.setdefault((caller[0].file, owner, caller[1].name), caller)
    return list(found.values())


def _callers(call: Call, sources: ProjectSources) -> Iterator[Call]:
    """Yield the functions or methods that call a function in its own file: of a method, those of its class."""
    entry, called = call
    tree = sources.tree(entry.file)
    around: list[ast.stmt] = entry.owner.body if entry.owner is not None else tree.body if tree is not None else []
    for node in around:
        if isinstance(node, Function) and node is not called and node.name not in _NOT_CALLED:
            calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
            if any(last_name(one) == called.name for one in calls):
                yield Entry(entry.file, node, entry.owner), node


def project_callers(entry: Entry, name: str, sources: ProjectSources) -> Iterator[Call]:
    """Yield the functions and methods of a project, its tests left out, that call something of a name.

    The name is that of the entry or of a method of its class. Who calls a `forward` does not name it.
    """
    for path in sources.files if name != "forward" else ():
        if is_test_file(str(path.relative_to(sources.root))) or name not in path.read_text("utf-8", "replace"):
            continue
        tree = sources.tree(path)
        calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)] if tree is not None else []
        around = [sources.entry_at(path, one.lineno) for one in calls if last_name(one.func) == name]
        for caller in {one.name: one for one in around if one is not None}.values():
            if (caller.file, caller.name) != (entry.file, entry.name) and caller.function.name not in _NOT_CALLED:
                yield caller, caller.function


def _regions(finding: Diagnostic) -> Iterator[Region]:
    """Yield the places of a finding's story, those where a driver should begin first."""
    for note in finding.assumptions:
        if note.kind in OF_CALLERS and note.region is not None:
            yield note.region
    yield failure_region(finding)
    yield finding.region
    for step in finding.trace:
        yield step.region


def _calls(entry: Entry, sources: ProjectSources) -> Iterator[Call]:
    """Yield what a driver may call for an entry: itself, and what a module does when it is called."""
    forward = sources.method(entry.owner, "forward", entry.file) if entry.owner is not None else None
    called = entry.function.name
    module = entry.owner is not None and sources.is_module(entry.owner, entry.file)
    if forward is not None and module and (called in _NOT_CALLED or called == "forward"):
        yield entry, forward
    elif called not in _NOT_CALLED:
        yield entry, entry.function
        if forward is not None and module:
            yield entry, forward
