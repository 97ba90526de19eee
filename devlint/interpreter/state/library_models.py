"""The models of library calls, registered by name."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

import libcst as cst

from devlint.domain.objects import Instance, Sequence
from devlint.domain.value import Ref, Value
from devlint.interpreter.state.arguments import Invocation
from devlint.interpreter.state.frame import Run

Model: TypeAlias = Callable[[Run, Invocation], Value]


_MODELS: dict[str, Model] = {}


def model(*names: str) -> Callable[[Model], Model]:
    """Register what a library call means. Names are dotted; methods are `Tensor.to`, `Module.cuda`, `list.append`,
    ..."""

    def register(function: Model) -> Model:
        _MODELS.update(dict.fromkeys(names, function))
        return function

    return register


def find_model(name: str) -> Model | None:
    """The model registered for a name."""
    return _MODELS.get(name)


Iteration: TypeAlias = Callable[[Run, Ref, Instance, cst.BaseExpression], Sequence]
_ITERATIONS: dict[str, Iteration] = {}


def iteration(*classes: str) -> Callable[[Iteration], Iteration]:
    """Register what a loop over an object of these library classes goes through."""

    def register(function: Iteration) -> Iteration:
        _ITERATIONS.update(dict.fromkeys(classes, function))
        return function

    return register


def find_iteration(cls: Hashable) -> Iteration | None:
    """The iteration registered for a class, if it is a library's."""
    return _ITERATIONS.get(cls) if isinstance(cls, str) else None
