"""Semantics tables: what each function of torch, NumPy and other libraries does to device, dtype and rank of tensors.

The tables are read from data files. A row is parsed when it is first looked up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from devlint.semantics.models.catalogue import ModelCatalogue
from devlint.semantics.models.model_files import ModelFile, bundled_models, read_model
from devlint.semantics.row import ModuleRow, Row, parse_row

__all__ = ["ModuleRow", "Row", "Table", "load_numpy_table", "load_semantics", "load_torch_table"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NO_MODELS = ModelCatalogue(())


class Table:
    """A semantics table: one row for each described library function, by canonical qualified name.

    A row in a model file of another library takes precedence over the table's own row.
    """

    def __init__(self, data: Mapping[str, Any], prefix: str = "torch.", models: ModelCatalogue = _NO_MODELS) -> None:
        self.version: str = data["version"]
        self.argument_aliases: Mapping[str, str] = data.get("argument_aliases", _NOTHING)
        self.coverage: Mapping[str, Any] = data.get("coverage", _NOTHING)
        self.usual: Mapping[str, str] = data.get("usual", _NOTHING)
        self.models = models
        self._prefix = prefix
        self._aliases: Mapping[str, str] = data["aliases"]
        self._data: Mapping[str, Mapping[str, Any]] = data["rows"]
        self._rows: dict[str, Row | None] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def aliases(self) -> Mapping[str, str]:
        """Return the canonical name of each described function that has further public names, by these other names."""
        return self._aliases

    def canonical(self, name: str) -> str:
        """Return the name under which the table or its model files describe ``name``.

        It is ``name`` itself if no alias applies.
        """
        return self._aliases.get(name) or self.models.canonical(name)

    def find(self, name: str) -> Row | None:
        """Return the parsed row that describes a library function, given any of its qualified public names.

        Returns None if neither this semantics table nor a model file describes the function.
        """
        if name not in self._rows:
            key = self.canonical(name)
            cells = self.models.cells(key) or self._data.get(key)
            self._rows[name] = None if cells is None else parse_row(key, cells)
        return self._rows[name]

    def cells(self, name: str) -> Mapping[str, Any]:
        """Return this semantics table's own row of a canonical name: the cells as the data file spells them."""
        return self._data[name]

    def method(self, name: str) -> Row | None:
        """Return the parsed row that describes a method, operator or property of ``Tensor``, given its plain name.

        Returns None if this semantics table does not describe it.
        """
        return self.find(f"{self._prefix}Tensor.{name}")


def _read(name: str) -> dict[str, Any]:
    """Return the parsed JSON of the data file with this name in the package ``devlint.semantics``."""
    data: dict[str, Any] = json.loads(Path(__file__).with_name(name).read_bytes())
    return data


@cache
def _torch() -> dict[str, Any]:
    """Return the parsed JSON of ``torch.json``, the data file of the semantics table of torch."""
    return _read("torch.json")


@cache
def load_torch_table() -> Table:
    """Return the semantics table of torch without the model files of other libraries."""
    return Table(_torch())


def load_semantics(models: Sequence[Path] = ()) -> Table:
    """Return the semantics table of torch, extended by model files, which describe other libraries.

    The model files at the paths ``models`` take precedence over those that are part of devlint.
    """
    files: list[ModelFile] = [read_model(path) for path in models]
    return Table(_torch(), models=ModelCatalogue((*files, *bundled_models())))


@cache
def load_numpy_table() -> Table:
    """Return the semantics table of NumPy and pandas; methods of arrays have names such as ``numpy.ndarray.sum``."""
    return Table(_read("numpy.json"), "numpy.")
