"""Draw docstrings at random, for somebody who did not write them to judge whether each is clear by itself.

    python benchmarks/docstrings.py [--count 40] [--seed 12]

Prints the qualified name and the docstring of each: of modules, classes, functions and methods of `devlint` and
`rules`, drawn with a fixed seed. A reader who has seen nothing else says of each whether it is clear what the thing is.
"""

from __future__ import annotations

import argparse
import ast
import random
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("devlint", "rules")


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the qualified name and the docstring of everything in a file that has one."""
    name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    pending: list[tuple[str, ast.AST]] = [(name, ast.parse(path.read_text(encoding="utf-8")))]
    while pending:
        qualified, node = pending.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield qualified, text
            inner = (one for one in node.body if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef))
            pending += [(f"{qualified}.{one.name}", one) for one in inner]


def main() -> None:
    """Print the docstrings that the seed draws."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=12)
    given = parser.parse_args()
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    found = sorted(one for path in files for one in docstrings(path))
    drawn = random.Random(given.seed).sample(found, given.count)
    for number, (name, text) in enumerate(drawn, start=1):
        print(f"{number}. {name}\n{text}\n")
    print(f"{given.count} of {len(found)} docstrings, seed {given.seed}")


if __name__ == "__main__":
    main()
