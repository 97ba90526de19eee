"""The registry of models: functions that evaluate calls of library functions and methods, by dotted name."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

import libcst as cst

from devlint.domain.objects import Instance, Sequence
from devlint.domain.value import Ref, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame

CallModel: TypeAlias = Callable[[Frame, LibraryCall], Value]
"""A handler that evaluates one kind of library call."""


_MODELS: dict[str, CallModel] = {}


def models_call(*names: str) -> Callable[[CallModel], CallModel]:
    """Return a decorator that registers a function as the model of calls of some library functions or methods.

    Names are dotted; those of methods look like `Tensor.to`, `Module.cuda`, `list.append`.
    """

    def register(function: CallModel) -> CallModel:
        _MODELS.update(dict.fromkeys(names, function))
        return function

    return register


def find_call_model(name: str) -> CallModel | None:
    """Return the function that models calls of a library function or method; None if there is none."""
    return _MODELS.get(name)


IterationModel: TypeAlias = Callable[[Frame, Ref, Instance, cst.BaseExpression], Sequence]
"""A handler that returns the elements of an iteration over a library's object."""
_ITERATIONS: dict[str, IterationModel] = {}


def models_iteration(*classes: str) -> Callable[[IterationModel], IterationModel]:
    """Return a decorator that registers a function as the model of iterating over instances of some library classes."""

    def register(function: IterationModel) -> IterationModel:
        _ITERATIONS.update(dict.fromkeys(classes, function))
        return function

    return register


def find_iteration_model(cls: Hashable) -> IterationModel | None:
    """Return the function that models iterating over instances of a library class; None if there is none."""
    return _ITERATIONS.get(cls) if isinstance(cls, str) else None
