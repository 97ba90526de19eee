"""Drivers that a project itself offers: its tests, its `__main__` blocks, and the examples of its docstrings.

All of them run as tests under `pytest --devlint`. Where that alone reaches nothing, `--devlint=move` puts what they
make on the accelerator. A block or an example becomes a test of its own first.
"""

from __future__ import annotations

import ast
import doctest
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from devlint.confirm.needed_statements import is_main_block
from devlint.confirm.source_files import Entry, Function, ProjectSources

TESTS = 8
"""The most tests that are run for one function."""
MADE = "test_devlint_driver.py"
"""The name of the file for a test that is made from a block or an example."""


@dataclass(frozen=True, slots=True)
class OwnDriver:
    """Tests that come to a function: the arguments that select them, and the text of the file if it has to be made.

    `origin` is "tests", "main" or "docstring".
    """

    origin: str
    selected: tuple[str, ...]
    text: str = ""

    def shown(self, mode: str) -> str:
        """Return the driver as a user would run it: the command, and the file if it has to be made."""
        command = f"pytest --devlint={mode} {' '.join(self.selected)}\n"
        return f"# {command}{self.text}" if self.text else command


def own_drivers(entry: Entry, called: Function, sources: ProjectSources) -> Iterator[OwnDriver]:
    """Yield the drivers that a project offers for a function or method, tests first."""
    name = entry.owner.name if entry.owner is not None else called.name
    found = tuple(islice(_tests_of(name, sources), TESTS))
    if found:
        yield OwnDriver("tests", found)
    tree = sources.tree(entry.file)
    _, module = next(sources.import_names(entry.file), (None, ""))
    if tree is None or not module:
        return
    block = _main_block(tree)
    if block and re.search(rf"\b{re.escape(name)}\b", block):
        yield OwnDriver("main", (MADE,), _made_test(module, block))
    documented = (entry.owner, called, tree)
    for example in [_example(ast.get_docstring(node) or "") for node in documented if node is not None]:
        if re.search(rf"\b{re.escape(name)}\b", example):
            yield OwnDriver("docstring", (MADE,), _made_test(module, example))


def _tests_of(name: str, sources: ProjectSources) -> Iterator[str]:
    """Yield the tests that mention a name, as pytest names them; those of small files first."""
    files = [one for one in sources.files if re.fullmatch(r"test_.*\.py|.*_test\.py", one.name)]
    word = re.compile(rf"\b{re.escape(name)}\b")
    for path in sorted(files, key=lambda one: one.stat().st_size):
        text = path.read_text(encoding="utf-8", errors="replace")
        tree = sources.tree(path) if word.search(text) else None
        lines = text.splitlines()
        for node in tree.body if tree else ():
            shown = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            if not word.search(shown):
                continue
            place = path.relative_to(sources.root).as_posix()
            beginning = "test" if isinstance(node, Function) else "Test"
            if isinstance(node, Function | ast.ClassDef) and node.name.startswith(beginning):
                yield f"{place}::{node.name}"


def _main_block(tree: ast.Module) -> str:
    """Return what stands under `if __name__ == "__main__":` in a file; the empty string without that."""
    for node in tree.body:
        if isinstance(node, ast.If) and is_main_block(node):
            return "\n".join(ast.unparse(one) for one in node.body)
    return ""


def _example(docstring: str) -> str:
    """Return the statements of the examples in a docstring; the empty string if there are none that parse."""
    try:
        found = "".join(one.source for one in doctest.DocTestParser().get_examples(docstring))
        return ast.unparse(ast.parse(found))
    except (ValueError, SyntaxError):
        return ""


def _made_test(module: str, statements: str) -> str:
    """Return the file of a test that runs some statements with the names of a module."""
    return "\n".join(
        [
            "import importlib",
            "import sys",
            "",
            f'sys.argv = ["{module}"]',
            f'subject = importlib.import_module("{module}")',
            'globals().update({name: one for name, one in vars(subject).items() if not name.startswith("__")})',
            "",
            "",
            "def test_example():",
            textwrap.indent(statements, "    "),
            "",
        ]
    )


def import_folders(entry: Entry, sources: ProjectSources, copy: Path) -> Sequence[str]:
    """Return the folders of a project's copy in which its own tests find what they import."""
    folders = [folder for folder, _ in sources.import_names(entry.file)][:1]
    known = [sources.root, sources.root / "src", *folders]
    return [str(copy / one.relative_to(sources.root)) for one in dict.fromkeys(known) if one.is_dir()]
