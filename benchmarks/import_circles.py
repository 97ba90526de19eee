"""Print the import circles among devlint's modules, typing-only and function-level imports included.

    python benchmarks/import_circles.py

The exit status is 1 when there is a circle. The graph is built by grimp, which import-linter uses as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp

ROOT = Path(__file__).parent.parent


def import_graph() -> dict[str, set[str]]:
    """Return the modules of devlint, each with the modules that it imports anywhere in its text."""
    sys.path.insert(0, str(ROOT))  # `rules` is a package of the checkout, and not installed under that name
    graph = grimp.build_graph("devlint", "rules", cache_dir=None)
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Yield each set of modules that import one another in a circle, sorted."""
    reachable = {module: _reachable(graph, module) for module in graph}
    seen: set[str] = set()
    for module in sorted(graph):
        circle = {other for other in reachable[module] if module in reachable[other]}
        if module in circle and module not in seen:
            seen |= circle
            yield sorted(circle)


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """Return the modules that a module imports, directly or through others."""
    found: set[str] = set()
    pending = [start]
    while pending:
        for module in graph.get(pending.pop(), ()):
            if module not in found:
                found.add(module)
                pending.append(module)
    return found


def main() -> None:
    """Print one line for each circle, and their number."""
    graph = import_graph()
    found = list(circles(graph))
    for circle in found:
        print(f"{len(circle)}: {' '.join(circle)}")
    print(f"{len(found)} import circles among {len(graph)} modules")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
