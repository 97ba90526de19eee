"""Helpers with which a driver imports a module of a project although libraries that the project wants are missing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any


def _absent(name: str) -> Any:
    return _Absent(name, (), {"_absent": True, "__init__": lambda self, *_, **__: None})


class _Absent(type):
    """The type of the names of a missing library: each can be called, subscripted, inherited from and decorate."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _absent(name)

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        if "_absent" not in vars(cls):
            return super().__call__(*arguments, **keywords)
        if len(arguments) == 1 and not keywords and callable(arguments[0]) and not isinstance(arguments[0], _Absent):
            return arguments[0]
        return _absent(cls.__name__)

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __or__(cls, _: Any) -> Any:
        return cls

    def __ror__(cls, _: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        return iter(())

    def __enter__(cls) -> Any:
        return cls

    def __exit__(cls, *_: object) -> None:
        return None


class _AbsentModule(ModuleType):
    """A module of a missing library."""

    __path__ = ()
    __version__ = "99.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _absent(name)


class _Finder(MetaPathFinder, Loader):
    """Finds the modules of the libraries that are stood in for."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        found = name in self.names or name.partition(".")[0] in self.names
        return ModuleSpec(name, self, is_package=True) if found else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _AbsentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None


def stand_in(*names: str) -> None:
    """Let these libraries, or single modules, be imported where they are missing; their names then do nothing."""
    missing = frozenset(name for name in names if "." in name or find_spec(name) is None)
    sys.meta_path.append(_Finder(missing))


def module(name: str, *, alone: bool = False) -> Any:
    """Import a module of the project; with `alone`, do not run the `__init__.py` of the packages around it.

    They often import everything, and with it libraries that the module does not need.
    """
    parts = name.split(".")[:-1] if alone else []
    for depth in range(1, len(parts) + 1):
        bare = ModuleType(".".join(parts[:depth]))
        folders = [Path(entry, *parts[:depth]) for entry in sys.path]
        bare.__path__ = [str(folder) for folder in folders if folder.is_dir()]
        bare.__version__ = "0"  # what modules most often take from the `__init__.py`
        sys.modules[bare.__name__] = bare
    return import_module(name)
