"""The roles of functions by their names and decorators: which run for every batch, and which only set a program up."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.domain.heat import Heat
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.private_definitions import is_test_file

CACHING_DECORATORS: Final = frozenset({"lru_cache", "cache"})
"""The decorators of functools that return the same object for the same arguments."""
_RUN_ONCE: Final = CACHING_DECORATORS | {"cached_property"}
"""The decorators under which a function runs once, or once for each key."""

_TEST_FOLDERS: Final = frozenset({"test", "tests"})
"""The names of folders with tests, and with what they need."""
_SET_UP: Final = re.compile(
    r"__(?:init|post_init|new|setstate|enter)__$|setUp|_*(?:setup|set_up|build|create|init|initiali[sz]e|load|configure"
    r"|register|prepare|precompute)(?:_|$)"
)
_HOT: Final = re.compile(
    r"forward$|(?:.*_)?step$|(?:.*_)?(?:loss|losses|criterion)(?:_|$)|(?:.*_)?collate(?:_|$)|__(?:getitem|next)__$"
)
_CALL_OF_MODULE: Final = re.compile(r"forward|backward|(?:training|validation|test|predict)_step")
"""The methods that PyTorch and Lightning call: those of modules and of functions with gradients."""
_HOT_METHOD: Final = re.compile(r"(?:predict|handle|inference)$")
"""The methods that serving frameworks call for every request."""
_ROUTES: Final = frozenset("get post put patch delete route api_route websocket".split())
"""The methods of a web application that register the decorated function for the requests to a path."""


def heat_of_function(info: FunctionInfo, *, analysed: bool) -> Heat:
    """Return how often a function runs by its role, which its name, its decorators and its file tell.

    `analysed` is true for a function of the file that is being analysed. Only there the rest of the file is read.
    """
    if _is_of_tests(info, analysed) or info.decorator_names & _RUN_ONCE:
        return Heat.ONCE
    name = info.name.rpartition(".")[2]
    if _SET_UP.match(name):
        return Heat.SET_UP
    by_name = _HOT.match(name) or (info.owner is not None and _HOT_METHOD.match(name))
    return Heat.HOT if by_name or any(map(_is_route, info.decorators)) else Heat.OPEN


def is_call_of_module(info: FunctionInfo) -> bool:
    """Return whether a function is a method that runs a module, or a step of it, on inputs that lie where it lies."""
    name = info.name.rpartition(".")[2]
    return info.owner is not None and _CALL_OF_MODULE.fullmatch(name) is not None


def is_test(info: FunctionInfo) -> bool:
    """Return whether pytest calls a function: a pytest fixture, or a test that no other code of the file mentions.

    The arguments of such a function come from pytest fixtures and are unknown.
    """
    name = info.name.rpartition(".")[2]
    if not name.startswith("test_"):
        return "fixture" in info.decorator_names
    return not any(name in unit.mentions for unit in info.module.index.statements if unit is not info.unit)


@cache
def holds_tests(path: Path) -> bool:
    """Return whether a file holds tests, or what they need, by its name and its folder's."""
    return is_test_file(path) or path.parent.name in _TEST_FOLDERS


def _is_of_tests(info: FunctionInfo, analysed: bool) -> bool:
    """Return whether a function is part of tests, by its file, the file's folder or its name.

    A function `test_model(loader)` may as well evaluate a model, so that only a test without parameters is told by its
    name.
    """
    if holds_tests(info.module.path):
        return True
    is_named = analysed and info.name.rpartition(".")[2].startswith("test_")
    return is_named and is_test(info) and all(one.name == "self" for one in info.parameters)


def _is_route(decorator: cst.BaseExpression) -> bool:
    """Return whether a decorator registers a function for requests, as `@app.post("/predict")` does."""
    match decorator:
        case cst.Call(func=cst.Attribute(attr=name), args=[cst.Arg(value=cst.SimpleString() as path), *_]):
            return name.value in _ROUTES and path.raw_value.startswith("/")
    return False
