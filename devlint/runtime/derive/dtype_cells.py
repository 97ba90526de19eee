"""The dtype cells of a table row: the first rule of a fixed vocabulary that predicts all observed result dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

from devlint.runtime.derive.call_probe import ProbeResult, parameter_of
from devlint.runtime.derive.probed_callable import Cells, ProbedCallable

Dtype = torch.dtype
Seen = list[tuple[ProbeResult, list[torch.Tensor]]]
"""Probed calls with the result tensors that one rule has to predict."""
_NUMBERS = (bool, int, float, complex)
"""Types of Python numbers."""
_LIKE_OPERANDS = frozenset("other min max exponent self input x y end".split())
"""Parameters whose Python numbers take part in type promotion."""
_OF_ONE = frozenset({"real", "real-float", "complex"})
_FIXED = tuple("bool int64 float32 int32 uint8 complex64 float64".split())
"""Fixed result dtypes, those tried early first."""


def cells(subject: ProbedCallable, outcomes: list[ProbeResult]) -> Cells:
    """Return a callable's table cells ``dtype``, and ``dtype_if`` where an argument changes the rule.

    For losses, rules may hold for floating-point operands only.
    """
    seen = [o for o in outcomes if o.bound.get("dtype") is None and o.tensors]
    scopes = (_any, _not_integral, _floating_point) if "reduction" in subject.parameter_names else (_any,)
    found: Cells = {}
    for scope in scopes:
        found = _cells(subject, [o for o in seen if any(scope(d) for d, _ in o.before.values()) or scope is _any])
        if found["dtype"] != "unknown":
            break
    return found


def _any(dtype: Dtype) -> bool:
    """Return True, to keep every dtype."""
    return True


def _not_integral(dtype: Dtype) -> bool:
    """Return whether a dtype is floating-point or complex."""
    return dtype.is_floating_point or dtype.is_complex


def _floating_point(dtype: Dtype) -> bool:
    """Return whether a dtype is floating-point."""
    return dtype.is_floating_point


def _cells(subject: ProbedCallable, seen: list[ProbeResult]) -> Cells:
    """Return the table cells with dtype rules that predict these results."""
    rules = _rules(subject, seen)
    if "unknown" not in rules:
        return {"dtype": _joined(rules)}
    for name in sorted(subject.parameter_names - set(subject.tensor_names)):
        given = [o for o in seen if name in o.given()]
        absent = [o for o in seen if name not in o.given()]
        if given and absent:
            with_it, without = _rules(subject, given), _rules(subject, absent)
            if "unknown" not in (*with_it, *without):
                return {"dtype": _joined(without), "dtype_if": {name: _joined(with_it)}}
    return {"dtype": _joined(rules)} if set(rules) != {"unknown"} else {"dtype": "unknown"}


def _joined(rules: list[str]) -> str | list[str]:
    """Return the dtype rules of several results as one rule if they are all the same."""
    return rules[0] if len(set(rules)) == 1 else rules


def _rules(subject: ProbedCallable, outcomes: list[ProbeResult]) -> list[str]:
    """Return one dtype rule for each result; a plain tensor counts as the first result."""
    if not outcomes:
        return ["unknown"]
    if any(not isinstance(o.result, (torch.Tensor, tuple)) for o in outcomes) or _any_length(outcomes):
        return [_rule(subject, [(o, o.tensors) for o in outcomes])]
    width = max(len(o.tensors) for o in outcomes)
    return [_rule(subject, [(o, [o.tensors[c]]) for o in outcomes if len(o.tensors) > c]) for c in range(width)]


def _any_length(outcomes: list[ProbeResult]) -> bool:
    """Return whether the probed calls returned tuples of different lengths."""
    lengths = {len(o.tensors) for o in outcomes if isinstance(o.result, tuple)}
    return len(lengths) > 1


def _rule(subject: ProbedCallable, seen: Seen) -> str:
    """Return the first dtype rule that predicts the dtypes of these tensors, or "unknown"."""
    for rule in _candidates(subject):
        if all(out.dtype == predicted_dtype(rule, outcome) for outcome, outs in seen for out in outs):
            return rule
    return "unknown"


def _candidates(subject: ProbedCallable) -> Iterable[str]:
    """Yield the dtype rules to try: fixed dtypes, one operand's dtype, promotion, then conversions of these."""
    names = subject.tensor_names
    listed = any(p.tensor == "list" for s in subject.overloads for p in s.params[:1])
    pair = [",".join(names[:2])] if len(names) > 2 else []
    first = [] if listed else names[:1]
    yield from _FIXED[:2]
    yield from (f"same:{n}" for n in first)
    yield from ("promote", "promote-all")
    yield from (f"same:{n}" for n in names if n not in first)
    yield from (f"promote:{n}" for n in pair)
    for kind in _CONVERSIONS:
        named = [f"{kind}:{n}" for n in (*names, *pair)]
        plain = [kind, f"{kind}-all"]
        yield from (*named[:1], *plain, *named[1:]) if kind in _OF_ONE else (*plain, *named)
    yield from ("kwarg:default", *_FIXED[2:])


def predicted_dtype(rule: str, outcome: ProbeResult) -> Dtype | None:
    """Return the result dtype that a rule of the vocabulary predicts for one call."""
    kind, _, name = rule.partition(":")
    names = name.split(",") if name else []
    if kind == "kwarg":
        default: Dtype | None = torch.get_default_dtype() if name == "default" else getattr(torch, name, None)
        return default
    if kind in ("same", "kwarg-or"):
        return next((d for n in names for o, (d, _) in outcome.before.items() if parameter_of(o) == n), None)
    kind, everything = kind.removesuffix("-all"), kind.endswith("-all")
    if kind != "promote" and kind not in _CONVERSIONS:
        fixed: Dtype = getattr(torch, rule)
        return fixed
    dtype = _promoted(outcome, names, count_ranks=not everything)
    return dtype if dtype is None or kind == "promote" else _CONVERSIONS[kind](dtype)


def _promoted(outcome: ProbeResult, names: list[str], count_ranks: bool = True) -> Dtype | None:
    """Return what the named operands promote to.

    Without names, all operands and the numbers beside them take part.
    """
    given = [kind for o, kind in outcome.before.items() if not names or parameter_of(o) in names]
    numbers = [v for n, v in outcome.bound.items() if n in _LIKE_OPERANDS and isinstance(v, _NUMBERS) and not names]
    tensors = [torch.empty((1,) * (min(rank, 1) if count_ranks else 1), dtype=d) for d, rank in given]
    if not tensors and not numbers:
        return None
    try:
        kind = ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
        return elementwise_dtypes(*tensors, *numbers, type_promotion_kind=kind)[1]
    except (RuntimeError, ValueError, TypeError):
        return None


def _floating(dtype: Dtype) -> Dtype:
    """Return a dtype itself if it is floating-point or complex, else the default dtype."""
    return dtype if _not_integral(dtype) else torch.get_default_dtype()


def _real(dtype: Dtype) -> Dtype:
    """Return the real counterpart of a complex dtype; any other dtype itself."""
    return dtype.to_real() if dtype.is_complex else dtype


def _complex(dtype: Dtype) -> Dtype:
    """Return the complex counterpart of a dtype."""
    return _floating(dtype).to_complex()


def _summed(dtype: Dtype) -> Dtype:
    """Return the dtype of a sum: int64 for integers."""
    return dtype if _not_integral(dtype) else torch.int64


def _counted(dtype: Dtype) -> Dtype:
    """Return int64 for bool; any other dtype itself."""
    return torch.int64 if dtype is torch.bool else dtype


def _doubled(dtype: Dtype) -> Dtype:
    """Return the 64-bit real or 128-bit complex dtype for a dtype."""
    return torch.complex128 if dtype.is_complex else torch.float64


_CONVERSIONS: dict[str, Callable[[Dtype], Dtype]] = {
    "float": _floating,
    "sum": _summed,
    "pow": _counted,
    "real": _real,
    "real-float": lambda dtype: _floating(_real(dtype)),
    "complex": _complex,
    "double": _doubled,
}
"""Conversions of a promoted dtype, by name in the vocabulary."""
