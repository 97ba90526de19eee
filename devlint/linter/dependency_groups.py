"""The dependency groups of a program: files that import each other, directly or through others.

The analysis of a file gets to nothing outside of its group. What is found in a group therefore does not depend on the
analyses of the other groups, and each may be analysed on a machine of its own.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from devlint.interpreter.program.program import Program
from devlint.linter.shard import Shard


def files_of_shard(program: Program, shard: Shard, work_in: Callable[[Path], int]) -> list[Path]:
    """Return the given files of a program that belong to a shard, sorted; none where there are more shards than groups.

    `work_in` tells how much work a file is. The largest group is dealt out first, each to the shard with the least work
    so far. The shards depend on the names and contents of the files, and not on where the project lies.
    """
    groups = [(sum(map(work_in, group)), group) for group in dependency_groups(program)]
    groups.sort(key=lambda one: (-one[0], program.name_of(one[1][0])))
    loads = [(0, number) for number in range(1, min(shard.count, len(groups)) + 1)]
    own: list[Path] = []
    for work, group in groups:
        load, number = loads[0]
        heapq.heapreplace(loads, (load + work, number))
        if number == shard.number:
            own += group
    return sorted(own)


def dependency_groups(program: Program) -> Iterator[Sequence[Path]]:
    """Yield the dependency groups of a program, each as the given files in it, sorted by their names to show.

    Files that are not given connect those that import them, for the analyses of all of these get to them.
    """
    neighbours: dict[Path, set[Path]] = defaultdict(set)
    pending = program.given_paths
    known = set(pending)
    while pending:
        path = pending.pop()
        for other in _connected(program, path):
            neighbours[path].add(other)
            neighbours[other].add(path)
            if other not in known:
                known.add(other)
                pending.append(other)
    left = dict.fromkeys(program.given_paths)
    while left:
        group, pending = set[Path](), [next(iter(left))]
        while pending:
            path = pending.pop()
            if path not in group:
                group.add(path)
                pending += neighbours[path]
        given = [path for path in left if path in group]
        for path in given:
            del left[path]
        yield sorted(given, key=program.name_of)


def _connected(program: Program, path: Path) -> Iterator[Path]:
    """Yield the files that a file may import by its text, and the file of the package that it belongs to.

    Python runs the package before the file, and whoever has the package gets to the file as its attribute.
    """
    yield from program.imports_at_most(path)
    folder = path.parent.parent if path.name == "__init__.py" else path.parent
    package = folder / "__init__.py"
    if program.disk.is_file(package):
        yield package
