"""Reader of model files, which describe the functions of libraries other than torch, and check that they are valid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from devlint.semantics.models.parameter_names import first_unknown_parameter
from devlint.semantics.models.schema_check import SchemaProblem, first_problem

MODEL_SCHEMA: Final = Path(__file__).with_name("model.schema.json")
"""The JSON schema of model files, for editors and for the check."""


class ModelFileError(Exception):
    """An error in a model file: the path of the file, the key in it such as `rows.acme.load.device`, the problem."""

    def __init__(self, path: Path, key: str, problem: str) -> None:
        super().__init__(f"{path}: `{key}`: {problem}" if key else f"{path}: {problem}")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The content of a model file, which describes the functions of a library other than torch.

    It has table rows by name or name pattern, aliases of names, and conventions: row cells for any unknown call that
    meets a condition on its arguments. It names the packages that set torch's default device when they are imported,
    and those that then choose how processes are started.
    """

    aliases: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Any]]
    conventions: Mapping[str, Mapping[str, Any]]
    sets_default_device: frozenset[str]
    sets_start_method: frozenset[str]


def read_model(path: Path) -> ModelFile:
    """Return the content of the model file at a path. Raises ModelFileError if the file is unreadable or not valid."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelFileError(path, "", error.strerror or str(error)) from None
    except ValueError as error:
        raise ModelFileError(path, "", f"not JSON: {error}") from None
    problem: SchemaProblem | None = (
        first_problem(data, _schema()) or _unsuitable_like(data) or first_unknown_parameter(data)
    )
    if problem is not None:
        raise ModelFileError(path, problem.key, problem.message)
    return _model_file(data)


@cache
def bundled_models() -> tuple[ModelFile, ...]:
    """Return the contents of the model files that are part of devlint.

    They are not checked here: a test has checked them.
    """
    paths = sorted(path for path in MODEL_SCHEMA.parent.glob("*.json") if path != MODEL_SCHEMA)
    return tuple(_model_file(json.loads(path.read_bytes())) for path in paths)


@cache
def _schema() -> Mapping[str, Any]:
    """Return the JSON schema that every model file must fit."""
    schema: Mapping[str, Any] = json.loads(MODEL_SCHEMA.read_bytes())
    return schema


def _unsuitable_like(data: Mapping[str, Any]) -> SchemaProblem | None:
    """Return a problem for the first entry of a model file whose cell `like` names an unsuitable row, None if none.

    A row is unsuitable if it does not exist or has a cell `like` itself.
    """
    rows = data.get("rows", {})
    for section in ("rows", "conventions"):
        for name, cells in data.get(section, {}).items():
            model = cells.get("like")
            if model is not None and model not in rows:
                return SchemaProblem(f"{section}.{name}.like", f"there is no row `{model}` in this file")
            if model is not None and "like" in rows[model]:
                return SchemaProblem(f"{section}.{name}.like", f"`{model}` is itself like another row")
    return None


def _model_file(data: Mapping[str, Any]) -> ModelFile:
    """Return the content of a model file as a ModelFile, given its parsed JSON."""
    rows = data.get("rows", {})
    return ModelFile(
        data.get("aliases", {}),
        _complete(rows, rows),
        _complete(data.get("conventions", {}), rows),
        frozenset(data.get("sets_default_device", ())),
        frozenset(data.get("sets_start_method", ())),
    )


def _complete(section: Mapping[str, Any], rows: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of a model file, each with the cells of the row that its cell `like` names added.

    The entry's own cells take precedence.
    """
    return {name: {**rows.get(cells.get("like"), {}), **cells} for name, cells in section.items()}
