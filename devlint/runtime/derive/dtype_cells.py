"""The dtype cells of a semantics-table row: the rules that predict the result dtypes of a torch callable.

Rules have names such as "same:input" or "promote". The first rule of a fixed list that predicts the dtypes of all
probed results is taken.
"""

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
    """Return a callable's semantics-table cells ``dtype``, and ``dtype_if`` where an argument changes the dtype rule.

    ``outcomes`` are the probed calls. For loss functions, the rule may hold for floating-point operands only.
    """
    seen = [o for o in outcomes if o.bound.get("dtype") is None and o.tensors]
    scopes = (_any_dtype, _not_integral, _floating_point) if "reduction" in subject.parameter_names else (_any_dtype,)
    found: Cells = {}
    for scope in scopes:
        found = _cells(subject, [o for o in seen if any(scope(d) for d, _ in o.before.values()) or scope is _any_dtype])
        if found["dtype"] != "unknown":
            break
    return found


def _any_dtype(dtype: Dtype) -> bool:
    """Return True for every dtype: the filter by which calls with operands of any dtype are looked at."""
    return True


def _not_integral(dtype: Dtype) -> bool:
    """Return whether a dtype is floating-point or complex."""
    return dtype.is_floating_point or dtype.is_complex


def _floating_point(dtype: Dtype) -> bool:
    """Return whether a dtype is floating-point; complex dtypes are not."""
    return dtype.is_floating_point


def _cells(subject: ProbedCallable, seen: list[ProbeResult]) -> Cells:
    """Return semantics-table cells whose rules predict the result dtypes of the probed calls ``seen``.

    The cell ``dtype`` holds one rule for each result. If no rule predicts all calls, the cell ``dtype_if`` may hold
    another rule for the calls that give a certain argument. If that does not help either, the rule is "unknown".
    """
    rules = _rules_by_position(subject, seen)
    if "unknown" not in rules:
        return {"dtype": _one_rule_or_list(rules)}
    for name in sorted(subject.parameter_names - set(subject.tensor_names)):
        given = [o for o in seen if name in o.given()]
        absent = [o for o in seen if name not in o.given()]
        if given and absent:
            with_it, without = _rules_by_position(subject, given), _rules_by_position(subject, absent)
            if "unknown" not in (*with_it, *without):
                return {"dtype": _one_rule_or_list(without), "dtype_if": {name: _one_rule_or_list(with_it)}}
    return {"dtype": _one_rule_or_list(rules)} if set(rules) != {"unknown"} else {"dtype": "unknown"}


def _one_rule_or_list(rules: list[str]) -> str | list[str]:
    """Return the semantics-table cell ``dtype``, given one dtype rule for each tensor that a callable returns.

    The cell is a single rule if all the rules are the same, else the list of them.
    """
    return rules[0] if len(set(rules)) == 1 else rules


def _rules_by_position(subject: ProbedCallable, outcomes: list[ProbeResult]) -> list[str]:
    """Return one dtype rule for each position in the tuple of tensors that the probed calls return.

    A call that returns a plain tensor counts as a tuple of one. For lists, and for tuples of varying length, the list
    has one rule for all the tensors.
    """
    if not outcomes:
        return ["unknown"]
    if any(not isinstance(o.result, (torch.Tensor, tuple)) for o in outcomes) or _has_varying_lengths(outcomes):
        return [_first_rule(subject, [(o, o.tensors) for o in outcomes])]
    width = max(len(o.tensors) for o in outcomes)
    return [_first_rule(subject, [(o, [o.tensors[c]]) for o in outcomes if len(o.tensors) > c]) for c in range(width)]


def _has_varying_lengths(outcomes: list[ProbeResult]) -> bool:
    """Return whether the probed calls of one callable returned tuples with different numbers of tensors."""
    lengths = {len(o.tensors) for o in outcomes if isinstance(o.result, tuple)}
    return len(lengths) > 1


def _first_rule(subject: ProbedCallable, seen: Seen) -> str:
    """Return the first dtype rule that predicts the dtypes of all tensors in ``seen``, "unknown" if no rule does.

    ``seen`` pairs each probed call with those tensors of its result that the rule must predict.
    """
    for rule in _candidates(subject):
        if all(out.dtype == predicted_dtype(rule, outcome) for outcome, outs in seen for out in outs):
            return rule
    return "unknown"


def _candidates(subject: ProbedCallable) -> Iterable[str]:
    """Yield the names of the dtype rules to try for a callable, in order.

    Two fixed dtypes come first, then one operand's dtype, type promotion, conversions of these, and other fixed dtypes.
    """
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
    """Return the result dtype that a dtype rule such as "same:input" or "promote" predicts for one probed call.

    Returns None if the rule predicts no dtype for this call.
    """
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
    """Return the dtype to which torch promotes the operands of a call, None if torch cannot promote them.

    With ``names``, only the operands of these parameters take part. Without, all operands and Python numbers do. If
    ``count_ranks`` is false, 0-dim tensors count like tensors with dimensions.
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
    """Return the dtype itself if it is floating-point or complex, else torch's default dtype."""
    return dtype if _not_integral(dtype) else torch.get_default_dtype()


def _real(dtype: Dtype) -> Dtype:
    """Return the real counterpart of a complex dtype, or the dtype itself if it is not complex."""
    return dtype.to_real() if dtype.is_complex else dtype


def _complex(dtype: Dtype) -> Dtype:
    """Return the complex counterpart of a dtype; for integers and bool, that of torch's default dtype."""
    return _floating(dtype).to_complex()


def _summed(dtype: Dtype) -> Dtype:
    """Return the dtype that a sum of values of this dtype has: int64 for integers and bool, else the dtype itself."""
    return dtype if _not_integral(dtype) else torch.int64


def _counted(dtype: Dtype) -> Dtype:
    """Return int64 if the dtype is bool, else the dtype itself."""
    return torch.int64 if dtype is torch.bool else dtype


def _doubled(dtype: Dtype) -> Dtype:
    """Return complex128 if the dtype is complex, else float64."""
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
