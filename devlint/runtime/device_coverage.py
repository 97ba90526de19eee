"""Device coverage: which files and functions of a program ever ran an operator on an accelerator.

It is read from what a recorder counted by line, so it costs a run nothing. An operator belongs to the innermost
function of the user's code that it ran in. A function that ran no operator of its own says nothing, and does not count;
nor does a constructor, since modules are made on the host and then moved.
One in which operands on different devices met had tensors on an accelerator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.runtime.code_of_tests import is_test_code
from devlint.runtime.observation_matching import MIXED_DEVICE_CODES
from devlint.runtime.recorder import LineRecord, Recorder
from devlint.runtime.report_wording import host_only_text

FILES_SHOWN = 10
"""The number of files of which the text names the functions that stayed on the host."""
NAMES_SHOWN = 4
"""The number of such functions that the text names for each file."""
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
"""The names of constructors."""
MODULE_LEVEL = "<module>"
"""The name under which code outside of all functions is counted."""


@dataclass(frozen=True, slots=True)
class FunctionCoverage:
    """A function with the number of its operators, and how many of them ran on an accelerator.

    `line` is where the definition begins. Transfers to or from an accelerator count as operators there.
    """

    name: str
    line: int
    operators: int
    device_operators: int

    @property
    def constructs(self) -> bool:
        """Return whether the function is a constructor."""
        return self.name.rpartition(".")[2] in _CONSTRUCTORS


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """A source file with those of its functions that ran operators, in the order of the file."""

    filename: str
    functions: Sequence[FunctionCoverage]

    @property
    def judged(self) -> list[FunctionCoverage]:
        """Return the functions that ran operators, without constructors and the code outside of functions."""
        return [one for one in self.functions if one.name != MODULE_LEVEL and not one.constructs]

    @property
    def on_host(self) -> list[FunctionCoverage]:
        """Return the functions whose operators all ran on the host."""
        return [one for one in self.judged if not one.device_operators]

    @property
    def used_device(self) -> bool:
        """Return whether any operator of the file ran on an accelerator."""
        return any(one.device_operators for one in self.functions)


@dataclass(frozen=True, slots=True)
class DeviceCoverage:
    """The device coverage of a run: the files of the program, and apart from them those of its tests."""

    files: Sequence[FileCoverage]
    test_files: Sequence[FileCoverage]

    @property
    def functions(self) -> int:
        """Return the number of functions of the program that ran operators."""
        return sum(len(file.judged) for file in self.files)

    @property
    def functions_on_device(self) -> int:
        """Return the number of functions of the program that ran an operator on an accelerator."""
        return self.functions - sum(len(file.on_host) for file in self.files)

    @property
    def percent(self) -> int:
        """Return the share of the functions that ran operators which ran one on an accelerator; 0 without functions."""
        return 100 * self.functions_on_device // (self.functions or 1)

    @property
    def operators(self) -> int:
        """Return the number of operators that ran, in the program and in its tests."""
        return sum(one.operators for file in self._all_files for one in file.functions)

    @property
    def device_operators(self) -> int:
        """Return the number of operators that ran on an accelerator, in the program and in its tests."""
        return sum(one.device_operators for file in self._all_files for one in file.functions)

    @property
    def _all_files(self) -> list[FileCoverage]:
        """Return all files, those of the program first."""
        return [*self.files, *self.test_files]


def device_coverage(recorder: Recorder, root: Path) -> DeviceCoverage:
    """Return the device coverage of a run from what its recorder counted by line.

    Test code is told from the program by the names of files and of the folders below `root`.
    """
    by_file: dict[str, dict[int, _Count]] = {}
    for (filename, line), record in recorder.lines.items():
        by_file.setdefault(filename, {})[line] = _count_of(record)
    for (code, site), group in recorder.observations.items():
        if site is not None and code in MIXED_DEVICE_CODES and group[0].raised:
            count = by_file.setdefault(site.filename, {}).setdefault(site.line, _Count())
            count.operators += len(group)
            count.device_operators += len(group)
    files = [_file_coverage(filename, by_file[filename]) for filename in sorted(by_file)]
    counted = [file for file in files if file.functions]
    tests = [file for file in counted if is_test_code(file.filename, str(root))]
    return DeviceCoverage([file for file in counted if file not in tests], tests)


def share_on_device(coverage: DeviceCoverage) -> str:
    """Return which share of the functions was on the accelerator, for the first line of a report; empty if none was."""
    if not coverage.functions or not coverage.device_operators:
        return ""
    return f"{coverage.percent} % of functions on the accelerator"


@dataclass(slots=True)
class _Count:
    """The number of operators at a line or in a function, and how many of them ran on an accelerator."""

    operators: int = 0
    device_operators: int = 0


def _count_of(record: LineRecord) -> _Count:
    """Return the number of operators and transfers that ran at a line."""
    moved = sum(tally.count for kind, tally in record.transfers.items() if kind.source != kind.target)
    return _Count(sum(record.operators.values()) + moved, record.device_operators + moved)


def _file_coverage(filename: str, lines: Mapping[int, _Count]) -> FileCoverage:
    """Return the coverage of one file from the counts of its lines."""
    definitions = _definitions(filename)
    counts: dict[_Definition, _Count] = {}
    for line, here in lines.items():
        if here.operators:
            inside = [one for one in definitions if one.first <= line <= one.last]
            count = counts.setdefault(max(inside, key=lambda one: one.first, default=_OUTSIDE), _Count())
            count.operators += here.operators
            count.device_operators += here.device_operators
    functions = sorted(counts, key=lambda one: one.first)
    return FileCoverage(
        filename,
        [
            FunctionCoverage(one.name, one.first, counts[one].operators, counts[one].device_operators)
            for one in functions
        ],
    )


@dataclass(frozen=True, slots=True)
class _Definition:
    """A function in a source file: its qualified name, and its first and last line."""

    name: str
    first: int
    last: int


_OUTSIDE = _Definition(MODULE_LEVEL, 1, 1)


def _definitions(filename: str) -> list[_Definition]:
    """Return the functions that a source file defines; none if it cannot be read."""
    try:
        tree = ast.parse(Path(filename).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    return list(_definitions_in(tree, ""))


def _definitions_in(node: ast.AST, prefix: str) -> Iterator[_Definition]:
    """Yield the functions defined in a part of a file, each with the names of what it is defined in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _Definition(prefix + child.name, child.lineno, child.end_lineno or child.lineno)
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _definitions_in(child, f"{prefix}{child.name}." if named else prefix)  # type: ignore[attr-defined]


def coverage_text(coverage: DeviceCoverage, root: Path) -> Iterator[str]:
    """Yield device coverage as lines of text: the share of functions, and the functions that stayed on the host."""
    if not coverage.operators:
        yield "device coverage: no operator ran\n"
        return
    if not coverage.device_operators:
        yield f"device coverage: {host_only_text('the accelerator', coverage.operators)}\n"
        return
    share = f"{coverage.device_operators} of {coverage.operators} operators and copies ran on the accelerator"
    if not coverage.functions:
        yield f"device coverage: {share}, none of them in the program's own files\n"
        return
    files = [file for file in coverage.files if not all(one.constructs for one in file.functions)]
    used = sum(file.used_device for file in files)
    yield f"device coverage: {share}; so did {coverage.functions_on_device} of {coverage.functions} functions that ran "
    yield f"any ({coverage.percent} %), in {used} of {len(files)} files\n"
    behind = sorted((file for file in coverage.files if file.on_host), key=lambda file: -len(file.on_host))
    for file in behind[:FILES_SHOWN]:
        names = ", ".join(one.name for one in file.on_host[:NAMES_SHOWN])
        more = f" and {len(file.on_host) - NAMES_SHOWN} more" if len(file.on_host) > NAMES_SHOWN else ""
        done = f"{len(file.judged) - len(file.on_host)} of {len(file.judged)}"
        yield f"  {done:>9}  {path_below(file.filename, root)}; only on the host: {names}{more}\n"
    if len(behind) > FILES_SHOWN:
        yield f"  and {len(behind) - FILES_SHOWN} more files\n"


def coverage_object(coverage: DeviceCoverage, root: Path) -> dict[str, object]:
    """Return device coverage as a dict for a report in JSON."""
    return {
        "operators": coverage.operators,
        "device_operators": coverage.device_operators,
        "functions": coverage.functions,
        "functions_on_device": coverage.functions_on_device,
        "files": [_file_object(file, root) for file in coverage.files],
        "test_files": [_file_object(file, root) for file in coverage.test_files],
    }


def _file_object(file: FileCoverage, root: Path) -> dict[str, object]:
    """Return the coverage of one file as a dict for a report in JSON."""
    return {
        "filename": path_below(file.filename, root),
        "functions": [
            {"name": one.name, "line": one.line, "operators": one.operators, "device_operators": one.device_operators}
            for one in file.functions
        ],
    }


def path_below(filename: str, root: Path) -> str:
    """Return a file's name relative to a folder if the file lies below it."""
    path = Path(filename)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else filename
