"""The semantics-table cells ``returns`` and ``returns_if``: which kind of value a torch callable returns.

Kinds are, for example, "tensor", "number", or "tuple:values,indices" for a named tuple of tensors.
"""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.derive.call_probe import ProbeResult
from devlint.runtime.derive.probed_callable import Cells, ProbedCallable

_PLAIN = ((bool, "bool"), (int, "number"), (float, "number"), (complex, "number"), (str, "string"))
_NAMED = ((torch.dtype, "dtype"), (torch.device, "device"), (torch.layout, "layout"), (torch.Generator, "generator"))


def return_form(result: Any) -> str:
    """Return the kind of one call's result, such as "tensor", "number" or "tuple:values,indices"."""
    if result is None:
        return "none"
    if isinstance(result, torch.Tensor):
        return "tensor"
    if isinstance(result, torch.Size):
        return "size"
    for kind, name in (*_PLAIN, *_NAMED):
        if isinstance(result, kind):
            return name
    if not isinstance(result, (tuple, list)):
        return "unknown"
    if not result or not any(isinstance(v, torch.Tensor) for v in result):
        return "python" if not any(isinstance(v, (tuple, list)) and v for v in result) else "unknown"
    if not all(isinstance(v, torch.Tensor) for v in result):
        return "unknown"
    if hasattr(type(result), "n_fields"):
        return "tuple:" + ",".join(_field_names(result))
    return f"tuple:{','.join(map(str, range(len(result))))}" if isinstance(result, tuple) else "list"


def _field_names(result: Any) -> list[str]:
    """Return the field names of a named tuple that a torch call returned, in the order of its items."""
    known = [n for n in dir(type(result)) if not n.startswith(("_", "n_")) and n not in ("count", "index")]
    return [next(n for n in known if getattr(result, n) is value) for value in result]


def cells(subject: ProbedCallable, in_place: bool) -> Cells:
    """Return a callable's semantics-table cells ``returns`` and ``returns_if``, which tell the kind of its result.

    ``returns_if`` is for kinds that depend on arguments. With ``in_place``, the kind "self" is used if every probed
    call returned its first tensor operand itself.
    """
    first = subject.tensor_names[:1]
    if first and in_place and all(t.outcome.same_object == first[0] for t in subject.probed_calls):
        return {"returns": "self"}
    forms = [(return_form(t.outcome.result), t.outcome) for t in subject.probed_calls]
    if _has_varying_length(subject, [f for f, _ in forms]):
        forms = [("list" if f.startswith("tuple:0") else f, o) for f, o in forms]
    kinds = list(dict.fromkeys(f for f, _ in forms))
    if len(kinds) == 1:
        return {"returns": kinds[0]}
    plain = "tensor" if "tensor" in kinds else kinds[0]
    conditions: dict[str, str] = {}
    for kind in kinds:
        if kind != plain:
            telling = _deciding_argument([o for f, o in forms if f == kind], [o for f, o in forms if f != kind])
            if not telling:
                return {"returns": "unknown"}
            conditions[telling] = kind
    return {"returns": plain, "returns_if": conditions}


def _has_varying_length(subject: ProbedCallable, forms: list[str]) -> bool:
    """Return whether a callable returns sequences whose length depends on the arguments.

    ``forms`` are the kinds of result that its probed calls returned.
    """
    unnamed = {f for f in forms if f.startswith("tuple:0")}
    natives = [s.native for s in subject.overloads if s.native is not None]
    if len(unnamed) != 1 or (natives and all(len(n.func.returns) > 1 for n in natives)):
        return len(unnamed) > 1
    return any(p.tensor == "list" or "[]" in p.type for s in subject.overloads for p in s.params) or (
        bool(natives) and any("[]" in str(r.type) for n in natives for r in n.func.returns)
    )


def _deciding_argument(having: list[ProbeResult], lacking: list[ProbeResult]) -> str:
    """Return the name of an argument that all calls in ``having`` give and no call in ``lacking`` gives.

    The text is empty if there is no such argument.
    """
    always = frozenset.intersection(*(o.given() for o in having))
    telling = [n for n in always if not any(n in o.given() for o in lacking)]
    return min(telling, key=lambda n: (not n.startswith("return"), n != "dim", n), default="")
