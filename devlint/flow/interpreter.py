"""The complete interpreter: importing it registers every handler of syntax nodes and every model of library calls."""

from __future__ import annotations

from devlint.flow import attributes, calls, exceptions, expressions, loops, operators, statements, subscripts
from devlint.flow.library import (
    attention,
    builtins,
    clocks,
    collections,
    copying,
    data,
    defaults,
    devices,
    functional,
    holders,
    iterables,
    legacy,
    loading,
    modules,
    options,
    records,
    tensors,
    training,
)

__all__ = [
    "attention",
    "attributes",
    "builtins",
    "calls",
    "clocks",
    "collections",
    "copying",
    "data",
    "defaults",
    "devices",
    "exceptions",
    "expressions",
    "functional",
    "holders",
    "iterables",
    "legacy",
    "loading",
    "loops",
    "modules",
    "operators",
    "options",
    "records",
    "statements",
    "subscripts",
    "tensors",
    "training",
]
