"""The models of library calls, registered by name."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

import libcst as cst

from devlint.domain.objects import Instance, Sequence
from devlint.domain.value import Ref, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame

CallModel: TypeAlias = Callable[[Frame, LibraryCall], Value]


_MODELS: dict[str, CallModel] = {}


def models_call(*names: str) -> Callable[[CallModel], CallModel]:
    """Register what a library call means. Names are dotted; methods are `Tensor.to`, `Module.cuda`, `list.append`,
    ..."""

    def register(function: CallModel) -> CallModel:
        _MODELS.update(dict.fromkeys(names, function))
        return function

    return register


def find_call_model(name: str) -> CallModel | None:
    """The model registered for a name."""
    return _MODELS.get(name)


IterationModel: TypeAlias = Callable[[Frame, Ref, Instance, cst.BaseExpression], Sequence]
_ITERATIONS: dict[str, IterationModel] = {}


def models_iteration(*classes: str) -> Callable[[IterationModel], IterationModel]:
    """Register what a loop over an object of these library classes goes through."""

    def register(function: IterationModel) -> IterationModel:
        _ITERATIONS.update(dict.fromkeys(classes, function))
        return function

    return register


def find_iteration_model(cls: Hashable) -> IterationModel | None:
    """The iteration registered for a class, if it is a library's."""
    return _ITERATIONS.get(cls) if isinstance(cls, str) else None
