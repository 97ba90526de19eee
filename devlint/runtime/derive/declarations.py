"""Cells of the semantics table that follow from the declaration of a torch callable, without calling it.

They tell the parameters, the kind of result, and whether the callable is a factory such as ``torch.ones``.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from torch.utils._device import _device_constructors

from devlint.runtime.derive.overlay import overlay
from devlint.runtime.derive.signatures import (
    Parameter,
    Signature,
    signature_from_names,
    signatures,
    without_number_overloads,
)

Row = dict[str, Any]
"""The cells of one row of the semantics table, by field name."""
_NUMBERS = {"bool": "bool", "int": "number", "SymInt": "number", "float": "number", "Scalar": "number"}
_PLAIN: dict[Any, str] = {
    None: "none", "None": "none", bool: "bool", int: "number", float: "number", str: "string"
}  # fmt: skip


def overloads_of(name: str, function: Any) -> list[Signature]:
    """Return the signature of each overload of a torch callable.

    The signatures are taken from the handwritten cells of devlint's semantics table if those list the callable's
    parameters, else from torch.
    """
    by_hand = overlay()["rows"].get(name, {})
    if "params" in by_hand:
        spelled = by_hand.get("overloads", [by_hand["params"]])
        return [signature_from_names(params, by_hand.get("tensors", [])) for params in spelled]
    found = signatures(name, function)
    return [_as_method(s) for s in found] if name.startswith("torch.Tensor.") else found


def _as_method(signature: Signature) -> Signature:
    """Return the signature of a tensor method with its first parameter named ``self``."""
    first = signature.params[0] if signature.params else None
    if first is None or first.name == "self":
        return signature
    renamed = Parameter("self", first.kind, first.tensor, first.required, first.type)
    return Signature((renamed, *signature.params[1:]), signature.native)


def merge_params(overloads: list[Signature]) -> Row:
    """Return the semantics-table cells ``params`` and ``overloads`` of a callable with these overloads.

    ``params`` is one parameter list that serves for all overloads. ``overloads`` lists the parameters of each overload;
    it is present only if overloads put different parameters at the same position.
    """
    overloads = without_number_overloads(overloads)
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
    """Return parameter lists without repetitions, in their first order."""
    return [list(t) for t in dict.fromkeys(map(tuple, lists))]


def tensor_names(overloads: list[Signature]) -> list[str]:
    """Return the names of the parameters that take tensors in some overload.

    ``[]`` is added to a name that takes a sequence of tensors. The parameter ``out`` is left out.
    """
    found: dict[str, Parameter] = {}
    for signature in overloads:
        for param in signature.params:
            if param.tensor and param.name != "out" and (param.name not in found or param.tensor == "list"):
                found[param.name] = param
    return [n + ("[]" if p.tensor == "list" else "") for n, p in found.items()]


def number_names(overloads: list[Signature]) -> list[str]:
    """Return the names of parameters that take a tensor in one overload and a Python number in another."""
    tensors = {p.name for s in overloads for p in s.params if p.tensor}
    numbers = (p.name for s in overloads for p in s.params if not p.tensor and p.type.rstrip("?") in _NUMBERS)
    return [name for name in dict.fromkeys(numbers) if name in tensors]


def native_returns(overloads: list[Signature]) -> str:
    """Return the kind of result, such as "tensor" or "tuple:values,indices", that native_functions.yaml declares.

    Returns "unknown" if the overloads of the callable differ in it.
    """
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
            kinds.add(_NUMBERS.get(spelled[0], "unknown"))
    return kinds.pop() if len(kinds) == 1 else "unknown"


def annotated_return(function: Any) -> str:
    """Return the kind of result, such as "number" or "none", that the return annotation of a function declares.

    Returns "unknown" if there is no annotation, or if it names a tensor or any other type than a plain Python one.
    """
    try:
        annotation = inspect.signature(function).return_annotation
    except (ValueError, TypeError):
        return "unknown"
    return _PLAIN.get(annotation, "unknown") if isinstance(annotation, (type, str, type(None))) else "unknown"


def factory_cells(name: str, function: Any, row: Row) -> Row:
    """Return the semantics-table cells of a callable that creates a tensor: ``device``, ``dtype``, ``grad`` and others.

    The tensor is created from sizes, as by ``torch.ones``, or like another tensor, as by ``torch.ones_like``. The dict
    is empty for every other callable.
    """
    base = name.rsplit(".", 1)[1]
    takes = set(row["params"])
    if base.endswith("_like") or (base.startswith("new_") and name.startswith("torch.Tensor.")):
        source = "self" if name.startswith("torch.Tensor.") else "input"
        return {"device": f"kwarg-or:{source}", "dtype": f"kwarg-or:{source}", "free": [source], "grad": "none"}
    if function in _device_constructors() or ({"device", "dtype", "layout"} <= takes and not row["tensors"]):
        made: Row = {"factory": True, "device": "kwarg", "grad": "none"}
        if row.get("dtype", "unknown") in ("unknown", "float32", "kwarg:default"):
            made["dtype"] = "kwarg:default"
        return made
    return {}
