"""Joins what signatures, CPU probes and device flips tell into rows, and the hand-written overlay on top."""

from __future__ import annotations

import inspect
import json
import operator
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch.utils._device import _device_constructors

from devlint.runtime import emulate
from devlint.runtime.derive import devices, dtypes, effects, limits, modules, names, ranks, returned, samples
from devlint.runtime.derive.samples import Call
from devlint.runtime.derive.signatures import Param, Signature, declared, signatures, telling
from devlint.runtime.derive.subject import Subject, subject

Row = dict[str, Any]
Derived = tuple[Row, "Subject | None"]
OVERRIDES = Path(__file__).with_name("overrides.json")
_APART = frozenset({"host", "index", "free"})
FIELDS = (
    "params overloads tensors same scalars host index free device returns returns_if dtype dtype_if match match_or_half index_dtypes"
    " target_dtypes rank mutates view may_view sync random grad factory numpy property special module provenance"
).split()


def merge_params(overloads: list[Signature]) -> Row:
    """One parameter list that serves binding, and the overloads where they disagree by position."""
    overloads = telling(overloads)
    spelled = [[p.name for p in s.params if p.kind != "kw"] for s in overloads]
    longest = max(overloads, key=lambda s: (len([p for p in s.params if p.kind != "kw"]), len(s.params)))
    positional = [p.name for p in longest.params if p.kind != "kw"]
    agree = all(positional[: len(names_)] == names_ for names_ in spelled)
    params = longest.spelled()
    known = {p.name for p in longest.params}
    extra = [p for s in overloads for p in s.params if p.name not in known]
    extra = list({p.name: p for p in extra}.values())
    if extra:
        params += [*([] if any(n.startswith("*") for n in params) else ["*"]), *(p.name for p in extra)]
    row: Row = {"params": params}
    if not agree:
        row["overloads"] = _distinct(s.spelled() for s in overloads)
    return row


def _distinct(lists: Iterable[list[str]]) -> list[list[str]]:
    return [list(t) for t in dict.fromkeys(map(tuple, lists))]


def tensor_names(overloads: list[Signature]) -> list[str]:
    """Tensor parameters; ``name[]`` where a sequence is taken."""
    found: dict[str, Param] = {}
    for signature in overloads:
        for param in signature.params:
            if param.tensor and param.name != "out" and (param.name not in found or param.tensor == "list"):
                found[param.name] = param
    return [n + ("[]" if p.tensor == "list" else "") for n, p in found.items()]


def derive(name: str, function: Any) -> Derived:
    """The row of one function, method or property as the CPU tells it, and the subject for the accelerator to tell the rest."""
    if names.is_property(function):
        return _property(name), None
    overloads = overloads_of(name, function)
    if not overloads:
        return _plain(function), None
    row = merge_params(overloads)
    studied = subject(overloads, ((function, call) for call in samples.calls(name)))
    row["tensors"] = tensor_names(studied.overloads)
    if studied.trials:
        row |= _probed(name, studied)
        row["provenance"] = "probe-cpu"
    else:
        native = any(s.native for s in overloads)
        found = _native_returns(overloads) if native else _annotated_return(function)
        row |= {"returns": found, "provenance": "yaml" if native else "inspect"}
    row |= _factory_cells(name, function, row)
    return row, studied if studied.trials else None


def _plain(function: Any) -> Row:
    """A function of no signature: what it returns is known only if it runs without arguments and changes nothing."""
    name = getattr(function, "__name__", "")
    if name.startswith(("set_", "clear_", "autocast_", "init_")):
        return {"device": "none", "returns": "none", "provenance": "hand"}
    if not name.startswith(("is_", "get_", "are_")):
        return {"returns": "unknown", "provenance": "unknown"}
    try:
        found = returned.form(function())
    except (TypeError, RuntimeError, ValueError):
        return {"returns": "unknown", "provenance": "unknown"}
    return {"params": [], "device": "none", "returns": found, "provenance": "probe-cpu"}


def _property(name: str) -> Row:
    attribute = name.rsplit(".", 1)[1]
    read = operator.attrgetter(attribute)
    signature = declared(["self"], ["self"])
    studied = subject([signature], [(read, Call((torch.rand(2, 3),), {}))])
    row: Row = {"params": ["self"], "tensors": ["self"], "property": True, "provenance": "probe-cpu"}
    if not studied.trials:
        return {**row, "returns": "unknown"}
    cells = returned.cells(studied, in_place=False) | effects.cells(studied)
    if cells["returns"] == "tensor":
        outcomes = studied.varied()
        cells |= dtypes.cells(studied, outcomes) | ranks.cells(studied, outcomes)
    return row | cells


def overloads_of(name: str, function: Any) -> list[Signature]:
    """The overloads of a callable: spelled by hand where torch cannot tell, else as torch tells."""
    by_hand = overlay()["rows"].get(name, {})
    if "params" in by_hand:
        spelled = by_hand.get("overloads", [by_hand["params"]])
        return [declared(params, by_hand.get("tensors", [])) for params in spelled]
    found = signatures(name, function)
    return [_as_method(s) for s in found] if name.startswith("torch.Tensor.") else found


def _probed(name: str, studied: Subject) -> Row:
    row = returned.cells(studied, in_place=name.endswith("_") and (not name.endswith("__") or ".__i" in name))
    if any(t.outcome.tensors for t in studied.trials):
        outcomes = studied.varied()
        row |= dtypes.cells(studied, outcomes) | ranks.cells(studied, outcomes)
    row |= effects.cells(studied) | limits.cells(studied, loss="loss" in name or "cross_entropy" in name)
    return row


def _as_method(signature: Signature) -> Signature:
    first = signature.params[0] if signature.params else None
    if first is None or first.name == "self":
        return signature
    renamed = Param("self", first.kind, first.tensor, first.required, first.type)
    return Signature((renamed, *signature.params[1:]), signature.native)


def _native_returns(overloads: list[Signature]) -> str:
    natives = [s.native for s in overloads if s.native is not None]
    kinds = set()
    for native in natives:
        returned = native.func.returns
        spelled = [str(r.type) for r in returned]
        if native.func.kind().name == "inplace":
            kinds.add("self")
        elif not spelled:
            kinds.add("none")
        elif spelled == ["Tensor"]:
            kinds.add("tensor")
        elif spelled == ["Tensor[]"]:
            kinds.add("list")
        elif all(s == "Tensor" for s in spelled):
            kinds.add("tuple:" + ",".join(r.name or str(i) for i, r in enumerate(returned)))
        else:
            kinds.add({"bool": "bool", "int": "number", "SymInt": "number", "float": "number", "Scalar": "number"}.get(
                spelled[0], "unknown"))
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _annotated_return(function: Any) -> str:
    try:
        annotation = inspect.signature(function).return_annotation
    except (ValueError, TypeError):
        return "unknown"
    plain: dict[Any, str] = {None: "none", "None": "none", bool: "bool", int: "number", float: "number", str: "string"}
    return plain.get(annotation, "unknown") if isinstance(annotation, (type, str, type(None))) else "unknown"


def _factory_cells(name: str, function: Any, row: Row) -> Row:
    base = name.rsplit(".", 1)[1]
    takes = {n for n in row["params"]}
    if base.endswith("_like") or base.startswith("new_") and name.startswith("torch.Tensor."):
        source = "self" if name.startswith("torch.Tensor.") else "input"
        return {"device": f"kwarg-or:{source}", "dtype": f"kwarg-or:{source}", "free": [source], "grad": "none"}
    if function in _device_constructors() or {"device", "dtype", "layout"} <= takes and not row["tensors"]:
        made: Row = {"factory": True, "device": "kwarg", "grad": "none"}
        if row.get("dtype", "unknown") in ("unknown", "float32", "kwarg:default"):
            made["dtype"] = "kwarg:default"
        return made
    return {}


@cache
def overlay() -> dict[str, Any]:
    """The hand-written cells."""
    loaded: dict[str, Any] = json.loads(OVERRIDES.read_text())
    return loaded


def apply_overlay(rows: dict[str, Row], chosen: Callable[[str], bool]) -> None:
    """Merge the hand-written cells over the derived ones; null removes a cell."""
    for name, cells in overlay()["rows"].items():
        if not chosen(name):
            continue
        row = rows.setdefault(name, {})
        if cells.keys() & _APART:
            row = rows[name] = {field: value for field, value in row.items() if field not in _APART}
        for field, value in cells.items():
            if field == "reason":
                continue
            if value is None:
                row.pop(field, None)
            elif field == "module":
                row["module"] = {**row.get("module", {}), **value}
            else:
                row[field] = value
        row["provenance"] = _joined(row)
        if row.get("special") and "dtype" not in cells:
            rows[name] = {"special": row["special"], "provenance": "hand"}


def _joined(row: Row) -> str:
    derived = row.get("provenance")
    return "hand" if derived in (None, "unknown", "hand") else f"{derived}+hand"


def tidy(row: Row) -> Row:
    """The row with its fields in order and its defaults left out."""
    kept = {f: row[f] for f in FIELDS if f in row and row[f] not in ([], {}, None, False, "", 0)}
    if kept.get("device") == "group":
        del kept["device"]
    if kept.get("returns") == "tensor":
        del kept["returns"]
    for cell in ("dtype", "rank"):
        if kept.get(cell) == "unknown":
            del kept[cell]
    return kept


def place(derived: dict[str, Derived]) -> dict[str, Row]:
    """The rows with their device cells, asked of the accelerator that is there."""
    rows = {}
    for name, (row, studied) in derived.items():
        rows[name] = row
        if studied is not None and not row.get("factory"):
            found = devices.cells(studied)
            kept = {field: value for field, value in found.items() if field not in row}
            rows[name] = {**row, **kept, "provenance": f"{row['provenance']}+emulated"}
    return rows


def rows_of(chosen: Callable[[str], bool] = lambda name: True) -> dict[str, Row]:
    """The rows of the chosen names, sorted, with the hand-written cells on top."""
    callables = {**names.functions(), **names.methods()}
    derived = {name: derive(name, function) for name, function in callables.items() if chosen(name)}
    derived |= {name: modules.derive(name) for name in modules.classes() if chosen(name)}
    with emulate():
        rows = place(derived)
    apply_overlay(rows, chosen)
    for name in rows:
        twin = f"torch.Tensor.{name.removeprefix('torch.')}"
        if name.endswith("_") and twin in rows:
            rows[name] = _as_function(rows[twin])
    return {name: tidy(rows[name]) for name in sorted(rows)}


def _as_function(row: Row) -> Row:
    """A method's row for the function that does the same, whose first parameter is called ``input``."""
    renamed: Row = json.loads(re.sub(r'"((?:same|real|arg|kwarg-or):)?self"', r'"\1input"', json.dumps(row)))
    return {**renamed, "returns": row["returns"]}


def render(rows: dict[str, Row], aliases: dict[str, str]) -> str:
    """The data file: one row a line, sorted by key."""
    dumps = json.dumps
    lines = ["{", f'"version": {dumps(torch.__version__.split("+")[0])},']
    lines.append(f'"argument_aliases": {dumps(overlay()["argument_aliases"])},')
    for title, section in (("aliases", aliases), ("rows", rows)):
        lines.append(f'"{title}": {{')
        lines += [f"{dumps(k)}: {dumps(v)}," for k, v in sorted(section.items())]
        lines[-1] = lines[-1].rstrip(",")
        lines.append("}," if title == "aliases" else "}")
    return "\n".join([*lines, "}", ""])
