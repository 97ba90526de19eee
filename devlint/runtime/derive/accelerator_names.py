"""The command ``python -m devlint.runtime.derive.accelerator_names WHEEL...``: which torch has which accelerator API.

It reads wheels of torch, as ``pip download`` stores them, without importing them, and writes the names of their modules
about accelerators, each with the first release that has it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias
from zipfile import ZipFile

import click

TARGET = Path(__file__).parents[2] / "semantics" / "accelerator_names.json"
"""The data file that is written."""
MODULES = (
    "torch.accelerator",
    "torch.accelerator.memory",
    "torch.amp",
    "torch.cpu",
    "torch.cuda",
    "torch.cuda.amp",
    "torch.cuda.memory",
    "torch.cuda.random",
    "torch.cuda.streams",
    "torch.mps",
    "torch.mtia",
    "torch.xpu",
    "torch.xpu.memory",
    "torch.xpu.random",
)
"""The modules whose names are written."""
SINGLE_NAMES = {
    "torch": (
        "Event",
        "OutOfMemoryError",
        "Stream",
        "autocast",
        "get_default_device",
        "get_device_module",
        "manual_seed",
    ),
    "torch.distributed.distributed_c10d": ("get_default_backend_for_device",),
    "torch.random": ("fork_rng",),
}
"""Further names that are written, by the module that binds them."""
SHOWN = {"torch.distributed.distributed_c10d": "torch.distributed", "torch.random": "torch.random"}
"""The module from which programs take such names, where another module binds them."""

Version: TypeAlias = tuple[int, int]


def version_of(wheel: Path) -> Version:
    """Return the release that a wheel holds, such as (2, 6), by its file name."""
    found = re.match(r"torch-(\d+)\.(\d+)\.", wheel.name)
    if found is None:
        raise click.BadParameter(f"{wheel.name} is not named like a wheel of torch")
    return int(found[1]), int(found[2])


class TorchSources:
    """The Python source of one release of torch, read from its wheel."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._names: dict[str, frozenset[str]] = {}

    @classmethod
    def of_wheel(cls, wheel: Path) -> TorchSources:
        """Return the sources in a wheel; of C++ modules, the stub of ``torch._C`` stands for them."""
        with ZipFile(wheel) as archive:
            wanted = [one for one in archive.namelist() if re.fullmatch(r"torch/[\w/]+\.pyi?", one)]
            wanted = [one for one in wanted if one.endswith(".py") or one == "torch/_C/__init__.pyi"]
            return cls({one: archive.read(one).decode() for one in wanted})

    def names_of(self, module: str) -> frozenset[str]:
        """Return the public names that a module binds, of its submodules too; empty for a module that is not there."""
        if module not in self._names:
            self._names[module] = frozenset()  # for modules that import one another by `*`
            path = self._path(module)
            bound = self._bound(module, ast.parse(self._files[path]).body) if path else ()
            folder = module.replace(".", "/") + "/"
            below = {one[len(folder) :].partition("/")[0].partition(".")[0] for one in self._files if folder in one}
            found = {name for name in {*bound, *(below if path and "__init__" in path else ())} if name[:1] != "_"}
            self._names[module] = frozenset(found)
        return self._names[module]

    def _path(self, module: str) -> str | None:
        """Return the path of a module's source, None if there is none."""
        base = module.replace(".", "/")
        return next(
            (one for one in (f"{base}/__init__.py", f"{base}/__init__.pyi", f"{base}.py") if one in self._files), None
        )

    def _bound(self, module: str, body: Iterable[ast.stmt]) -> Iterator[str]:
        """Yield the names that statements bind, also those in branches."""
        for statement in body:
            match statement:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name
                case ast.Import(names=aliases):
                    yield from (one.asname or one.name.partition(".")[0] for one in aliases)
                case ast.ImportFrom(names=aliases):
                    for one in aliases:
                        yield from self._starred(module, statement) if one.name == "*" else (one.asname or one.name,)
                case ast.Assign() | ast.AnnAssign():
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
                case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                    handlers = statement.handlers if isinstance(statement, ast.Try) else []
                    final = statement.finalbody if isinstance(statement, ast.Try) else []
                    for part in (
                        statement.body,
                        getattr(statement, "orelse", []),
                        final,
                        *(one.body for one in handlers),
                    ):
                        yield from self._bound(module, part)

    def _starred(self, module: str, statement: ast.ImportFrom) -> Iterator[str]:
        """Yield the names that ``from module import *`` binds."""
        package = module if "__init__" in (self._path(module) or "") else module.rpartition(".")[0]
        for _ in range(statement.level - 1):
            package = package.rpartition(".")[0]
        source = ".".join(part for part in (package if statement.level else "", statement.module) if part)
        yield from self.names_of(source)


def release_ranges(found: Mapping[Version, frozenset[str]]) -> dict[str, str]:
    """Return for each name the releases that have it, given the names of each release.

    The text is the first release, such as "2.6"; for a name that the newest release no longer has, "2.0-2.4".
    """
    newest = max(found)
    ranges = {}
    for name in sorted(frozenset().union(*found.values())):
        having = [version for version in sorted(found) if name in found[version]]
        ranges[name] = _text(having[0]) if having[-1] == newest else f"{_text(having[0])}-{_text(having[-1])}"
    return ranges


def names_in(sources: TorchSources) -> frozenset[str]:
    """Return the qualified names that are written of one release."""
    found = {f"{module}.{name}" for module in MODULES for name in sources.names_of(module)}
    found |= {module for module in MODULES if sources.names_of(module)}
    for module, names in SINGLE_NAMES.items():
        there = sources.names_of(module) | (sources.names_of("torch._C") if module == "torch" else frozenset())
        found |= {f"{SHOWN.get(module, module)}.{name}" for name in names if name in there}
    return frozenset(found)


def format_names(versions: Sequence[Version], ranges: Mapping[str, str]) -> str:
    """Return the content of the data file: one name in a line."""
    data = {"releases": [_text(one) for one in sorted(versions)], "names": dict(ranges)}
    return json.dumps(data, indent=1) + "\n"


def _text(version: Version) -> str:
    """Return a release as text, such as "2.6"."""
    return f"{version[0]}.{version[1]}"


@click.command()
@click.argument("wheels", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(wheels: tuple[Path, ...]) -> None:
    """Write which release of torch first has which name of its modules about accelerators."""
    found = {version_of(wheel): names_in(TorchSources.of_wheel(wheel)) for wheel in wheels}
    TARGET.write_text(format_names([*found], release_ranges(found)))


if __name__ == "__main__":
    main()
