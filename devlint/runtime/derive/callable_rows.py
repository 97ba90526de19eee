"""Rows of devlint's semantics table for torch's functions, methods and properties.

A row is derived from the callable's declaration and from small calls on the CPU.
"""

from __future__ import annotations

import operator
from typing import Any

import torch

from devlint.runtime.derive import (
    dtype_cells,
    dtype_limit_cells,
    effect_cells,
    public_names,
    rank_cells,
    return_cells,
    sample_calls,
)
from devlint.runtime.derive.declarations import (
    annotated_return,
    factory_cells,
    merge_params,
    native_returns,
    number_names,
    overloads_of,
    tensor_names,
)
from devlint.runtime.derive.probed_callable import ProbedCallable, probe_callable
from devlint.runtime.derive.sample_calls import SampleCall
from devlint.runtime.derive.signatures import signature_from_names

Row = dict[str, Any]
"""The cells of one row of the semantics table, by field name."""
DerivedRow = tuple[Row, "ProbedCallable | None"]
"""A table row with its probed callable, which an accelerator can be asked about; None if nothing could be called."""


def derive_row(name: str, function: Any) -> DerivedRow:
    """Derive the semantics-table row of one torch function, method or property.

    Returns the row and the probed callable: the callable with those of its sample calls that run on the CPU. The probed
    callable is None for a property and for a callable of which no sample call runs.
    """
    if public_names.is_property(function):
        return _property_row(name), None
    overloads = overloads_of(name, function)
    if not overloads:
        return _row_without_signature(function), None
    row = merge_params(overloads)
    studied = probe_callable(overloads, ((function, call) for call in sample_calls.calls(name)))
    row["tensors"] = tensor_names(studied.overloads)
    row["numbers"] = number_names(overloads)
    native = any(s.native for s in overloads)
    declared_by = "yaml" if native else "inspect"
    if studied.probed_calls:
        row |= _probed_cells(name, studied)
        row["provenance"] = dict.fromkeys(("params", "overloads", "tensors", "numbers"), declared_by)
    else:
        row["returns"] = native_returns(overloads) if native else annotated_return(function)
        row["provenance"] = {"*": declared_by}
    row |= _additional_cells(factory_cells(name, function, row), row, "inspect")
    row |= _additional_cells(effect_cells.declared_cells(overloads, row), row, "yaml")
    return row, studied if studied.probed_calls else None


def _additional_cells(cells: Row, row: Row, source: str) -> Row:
    """Return those of the given semantics-table cells that the row ``row`` lacks or holds with another value.

    ``source``, the origin of the cells, is written into the cell ``provenance`` of ``row``.
    """
    more = {cell: value for cell, value in cells.items() if row.get(cell) != value}
    row["provenance"] |= dict.fromkeys(more, source)
    return more


def _row_without_signature(function: Any) -> Row:
    """Derive the semantics-table row of a torch function whose parameters are unknown.

    A setter, such as ``set_...`` or ``init_...``, returns nothing. A getter, such as ``is_...`` or ``get_...``, is
    called without arguments to see what it returns. The result of any other function is unknown.
    """
    name = getattr(function, "__name__", "")
    if name.startswith(("set_", "clear_", "autocast_", "init_")):
        return {"device": "none", "returns": "none", "provenance": {"*": "inspect"}}
    if not name.startswith(("is_", "get_", "are_")):
        return {"returns": "unknown", "provenance": {"*": "inspect"}}
    try:
        found = return_cells.return_form(function())
    except (TypeError, RuntimeError, ValueError):
        return {"returns": "unknown", "provenance": {"*": "inspect"}}
    return {"params": [], "device": "none", "returns": found, "provenance": {"*": "probe-cpu"}}


def _property_row(name: str) -> Row:
    """Derive the semantics-table row of a property of ``torch.Tensor`` by reading it from one small tensor."""
    attribute = name.rsplit(".", 1)[1]
    read = operator.attrgetter(attribute)
    signature = signature_from_names(["self"], ["self"])
    studied = probe_callable([signature], [(read, SampleCall((torch.rand(2, 3),), {}))])
    row: Row = {"params": ["self"], "tensors": ["self"], "property": True, "provenance": {"*": "probe-cpu"}}
    if not studied.probed_calls:
        return {**row, "returns": "unknown"}
    cells = return_cells.cells(studied, in_place=False) | effect_cells.cells(studied)
    if cells["returns"] == "tensor":
        outcomes = studied.varied_results()
        cells |= dtype_cells.cells(studied, outcomes) | rank_cells.cells(studied, outcomes)
    return row | cells


def _probed_cells(name: str, studied: ProbedCallable) -> Row:
    """Return the semantics-table cells that follow from a callable's sample calls on the CPU.

    They tell the kind and dtypes of the result, whether it is 0-dim, the effects of a call, and the dtypes that it
    refuses.
    """
    row = return_cells.cells(studied, in_place=name.endswith("_") and (not name.endswith("__") or ".__i" in name))
    if any(t.outcome.tensors for t in studied.probed_calls):
        outcomes = studied.varied_results()
        row |= dtype_cells.cells(studied, outcomes) | rank_cells.cells(studied, outcomes)
    row |= effect_cells.cells(studied) | dtype_limit_cells.cells(
        studied, loss="loss" in name or "cross_entropy" in name
    )
    return row
