"""Turns what the CPU probes saw into the cells of a row: result form, dtype rule, rank, mutation, sharing, reading back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

from devlint.runtime.derive.probe import FLOATS, Operand, Outcome, bind, cast, operands, replace, run, tensors_of
from devlint.runtime.derive.samples import Call
from devlint.runtime.derive.signatures import Signature

Cells = dict[str, Any]
_READING_BACK = frozenset({"data_dependent_output", "dynamic_output_shape"})
_SCALARS = (bool, int, float, complex)


class Subject:
    """A callable with its overloads and the sample calls that run on the CPU."""

    def __init__(self, name: str, function: Any, overloads: list[Signature], calls: Iterable[Call]) -> None:
        self.name = name
        self.function = function
        self.overloads = overloads
        self.runs = [(c, o) for c in calls if not (o := run(function, overloads, c, record=True)).error]
        self.tensor_names = _ordered(n for s in overloads for p in s.params if p.tensor for n in [p.name])

    def run(self, call: Call, **options: bool) -> Outcome:
        """Run one call."""
        return run(self.function, self.overloads, call, **options)

    def bound(self, call: Call) -> dict[str, Any]:
        """The call's values by parameter name."""
        return bind(self.overloads, call) or {}

    def variants(self) -> list[Outcome]:
        """Accepted outcomes over the samples with operands cast and made 0-dim, alone and together."""
        outcomes = [o for _, o in self.runs]
        for call, _ in self.runs[:8]:
            given = operands(self.bound(call))
            changes: list[dict[str, torch.Tensor]] = []
            for dtype in (*FLOATS[1:], torch.int64, torch.int32, torch.bool, torch.complex64):
                changes.append({n: cast(t, dtype) for n, t in given.items() if t.is_floating_point()})
            for name, tensor in given.items():
                if tensor.is_floating_point():
                    changes += [{name: cast(tensor, d)} for d in (torch.float64, torch.int64)]
                zero_dim = _zero_dim(tensor)
                changes += [{name: zero_dim}, {name: cast(zero_dim, torch.float64)}]
            changes.append({n: _zero_dim(t) for n, t in given.items()})
            for change in changes:
                outcome = self.run(replace(call, self.overloads, change)) if change else None
                if outcome is not None and not outcome.error:
                    outcomes.append(outcome)
        return outcomes


def _zero_dim(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().reshape(-1)[0].clone() if tensor.numel() else tensor.new_ones(())


def _ordered(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def base(operand: str) -> str:
    """The parameter name of an operand name."""
    return operand.split("[")[0]


def cells(subject: Subject) -> Cells:
    """Every cell the CPU can tell."""
    outcomes = subject.variants()
    row: Cells = {}
    row |= returns(subject)
    if row["returns"] in ("tensor", "self") or row["returns"].startswith(("tuple", "list")) or "returns_if" in row:
        row["dtype"] = dtype_rule(subject, outcomes)
        row["rank"] = rank_rule(subject, outcomes)
        if not _requires_grad(subject):
            row["grad"] = "none"
    row |= effects(subject, outcomes)
    row |= dtype_limits(subject)
    return {k: v for k, v in row.items() if v not in (None, [], {}, "")}


def combined(subjects: list[Subject]) -> Cells:
    """The cells of one callable seen through several subjects, such as instances of a module class."""
    whole = subjects[0]
    outcomes = [o for s in subjects for o in s.variants()]
    limits = [dtype_limits(s) for s in subjects]
    runs = [pair for s in subjects for pair in s.runs]
    merged = Subject.__new__(Subject)
    merged.name, merged.function, merged.overloads = whole.name, whole.function, whole.overloads
    merged.tensor_names, merged.runs = whole.tensor_names, runs
    row: Cells = returns(merged)
    row["dtype"] = dtype_rule(merged, outcomes)
    row["rank"] = rank_rule(merged, outcomes)
    row |= effects(merged, outcomes)
    row["match"] = _groups([(g[0], n) for limit in limits for g in limit.get("match", []) for n in g])
    taken: dict[str, list[set[str]]] = {}
    for limit in limits:
        for name, kinds in limit.get("index_dtypes", {}).items():
            taken.setdefault(name, []).append(set(kinds))
    row["index_dtypes"] = {n: sorted(set.intersection(*k)) for n, k in taken.items() if n != "parameters"}
    return {k: v for k, v in row.items() if v not in (None, [], {}, "")}


def _form(result: Any) -> str:
    if result is None:
        return "none"
    if isinstance(result, torch.Tensor):
        return "tensor"
    if isinstance(result, torch.Size):
        return "size"
    for kind, form in ((bool, "bool"), (int, "number"), (float, "number"), (complex, "number"), (str, "string")):
        if isinstance(result, kind):
            return form
    if isinstance(result, tuple) and hasattr(type(result), "n_fields"):
        fields = [n for n in dir(type(result)) if not n.startswith(("_", "n_")) and n not in ("count", "index")]
        order = sorted(fields, key=lambda n: next((i for i, v in enumerate(result) if v is getattr(result, n)), 9))
        return "tuple:" + ",".join(order)
    if isinstance(result, (tuple, list)) and any(isinstance(v, torch.Tensor) for v in result):
        if all(isinstance(v, torch.Tensor) for v in result):
            return f"tuple:{','.join(map(str, range(len(result))))}" if isinstance(result, tuple) else "list"
        return "unknown"
    return "python" if isinstance(result, (tuple, list)) else "unknown"


def returns(subject: Subject) -> Cells:
    """``returns`` and, where it depends on which arguments are given, ``returns_if``."""
    if all(o.same_object and o.same_object == subject.tensor_names[0] for _, o in subject.runs):
        return {"returns": "self"}
    forms = [(_form(o.result), o) for _, o in subject.runs]
    kinds = _ordered(f for f, _ in forms)
    unnamed = [k for k in kinds if k.startswith("tuple:0")]
    if len(unnamed) > 1 or any(p.tensor == "list" or p.type.startswith(("SymInt[]", "int[]")) for s in subject.overloads
                               for p in s.params) and unnamed and not _fixed_length(subject):
        kinds = _ordered("list" if k in unnamed else k for k in kinds)
        forms = [("list" if f in unnamed else f, o) for f, o in forms]
    if len(kinds) == 1:
        return {"returns": kinds[0]}
    plain = "tensor" if "tensor" in kinds else kinds[0]
    conditions: dict[str, str] = {}
    for kind in kinds:
        if kind == plain:
            continue
        passed = [_given(o) for f, o in forms if f == kind]
        without = [_given(o) for f, o in forms if f != kind]
        always = set.intersection(*passed)
        telling = [n for n in always if not any(n in other for other in without)]
        if not telling:
            return {"returns": "unknown"}
        conditions[min(telling, key=lambda n: (not n.startswith("return"), n != "dim", n))] = kind
    return {"returns": plain, "returns_if": conditions}


def _fixed_length(subject: Subject) -> bool:
    natives = [s.native for s in subject.overloads if s.native is not None]
    return bool(natives) and all(len(n.func.returns) > 1 for n in natives)


def _given(outcome: Outcome) -> set[str]:
    return {n for n, v in outcome.bound.items() if v is not None and v is not False}


def dtype_rule(subject: Subject, outcomes: list[Outcome]) -> str | list[str]:
    """The first rule that predicts every observed result dtype; a list of rules for a tuple of results."""
    seen = [(o, tensors_of(o.result)) for o in outcomes if o.bound.get("dtype") is None]
    seen = [(o, outs) for o, outs in seen if outs]
    if not seen:
        return "unknown"
    count = {len(outs) for _, outs in seen}
    structured = all(isinstance(o.result, tuple) for o, _ in seen) and len(count) == 1
    columns = range(count.pop()) if structured else [None]
    rules = [_column_rule(subject, [(o, [outs[c]] if c is not None else outs) for o, outs in seen]) for c in columns]
    return rules[0] if len(set(rules)) == 1 else rules


def _column_rule(subject: Subject, seen: list[tuple[Outcome, list[torch.Tensor]]]) -> str:
    for rule in _rules(subject):
        predict = _PREDICT.get(rule.split(":")[0])
        if all(out.dtype == _predicted(rule, predict, o) for o, outs in seen for out in outs):
            return rule
    return "unknown"


def _rules(subject: Subject) -> list[str]:
    names = subject.tensor_names
    fixed = ["bool", "int64", "float32", "int32", "uint8", "complex64", "float64"]
    many = sum(1 for s in subject.overloads for p in s.params if p.tensor) > 1
    same = [f"same:{n}" for n in names]
    rules = [*same[:1], "promote", *same[1:]] if many or _variadic(subject) else [*same, "promote"]
    rules = [f"promote" if _variadic(subject) and i == 0 else r for i, r in enumerate(rules)] if _variadic(subject) else rules
    return [*fixed[:2], *rules, "float", "sum", *(f"real:{n}" for n in names[:2]), "kwarg:default", *fixed[2:]]


def _variadic(subject: Subject) -> bool:
    return any(p.tensor == "list" for s in subject.overloads for p in s.params[:1])


def _values(outcome: Outcome, subject_names: Iterable[str] | None = None) -> list[Any]:
    values = []
    for name, value in outcome.bound.items():
        if name in ("alpha", "beta", "value", "out"):
            continue
        if isinstance(value, _SCALARS) and name in ("other", "min", "max", "exponent", "self", "input", "x", "y"):
            values.append(value)
    tensors = [torch.empty((1,) * min(rank, 1), dtype=dtype) for dtype, rank in outcome.before.values()]
    return tensors + values


def _promoted(outcome: Outcome) -> torch.dtype | None:
    values = _values(outcome)
    if not values:
        return None
    try:
        return elementwise_dtypes(*values, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)[1]
    except (RuntimeError, ValueError, TypeError):
        return None


def _named(outcome: Outcome, name: str) -> torch.dtype | None:
    return next((d for n, (d, _) in outcome.before.items() if base(n) == name), None)


def _real(dtype: torch.dtype | None) -> torch.dtype | None:
    return dtype.to_real() if dtype is not None else None


def _floating(dtype: torch.dtype | None) -> torch.dtype | None:
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return dtype
    return torch.get_default_dtype()


def _summed(dtype: torch.dtype | None) -> torch.dtype | None:
    return dtype if dtype is None or dtype.is_floating_point or dtype.is_complex else torch.int64


_PREDICT: dict[str, Callable[[Outcome, str], torch.dtype | None]] = {
    "promote": lambda o, _: _promoted(o),
    "same": _named,
    "float": lambda o, _: _floating(_promoted(o)),
    "sum": lambda o, _: _summed(_promoted(o)),
    "real": lambda o, name: _real(_named(o, name)),
    "kwarg": lambda o, _: torch.get_default_dtype(),
}


def _predicted(rule: str, predict: Callable[[Outcome, str], torch.dtype | None] | None, outcome: Outcome) -> Any:
    if predict is None:
        return getattr(torch, rule)
    return predict(outcome, rule.partition(":")[2])


def rank_rule(subject: Subject, outcomes: list[Outcome]) -> str:
    """The first rule that predicts every time whether the result is 0-dim."""
    seen = [(o, {t.dim() == 0 for t in tensors_of(o.result)}) for o in outcomes]
    seen = [(o, zero) for o, zero in seen if zero]
    if any(len(zero) > 1 for _, zero in seen) or not seen:
        return "unknown"
    facts = [(o, next(iter(zero))) for o, zero in seen]
    names = subject.tensor_names
    rules: list[tuple[str, Callable[[Outcome], bool | None]]] = []
    if not any(zero for _, zero in facts):
        return "some"
    if all(zero for _, zero in facts):
        return "zero" if _rank_varies(outcomes) else "unknown"
    if len([n for n in names if n != "parameters"]) > 1 or _variadic(subject):
        rules.append(("broadcast", lambda o: _all_zero(o) if o.before else None))
    rules += [(f"same:{n}", lambda o, n=n: _rank_zero(o, n)) for n in names if n != "parameters"]
    for name in ("dim", "axis", "size"):
        rules.append(("reduce", lambda o, n=name: None if _all_zero(o) else o.bound.get(n) in (None, [], ())
                      and not o.bound.get("keepdim")))
    for rule, predict in rules:
        if all(zero == expected for o, zero in facts if (expected := predict(o)) is not None):
            return rule
    if all("dim" in o.bound or zero for o, zero in facts):
        return "reduce"
    return "unknown"


def _rank_varies(outcomes: list[Outcome]) -> bool:
    return any(rank > 0 for o in outcomes for _, rank in o.before.values()) or not any(o.before for o in outcomes)


def _all_zero(outcome: Outcome) -> bool:
    return all(rank == 0 for name, (_, rank) in outcome.before.items() if base(name) != "parameters")


def _rank_zero(outcome: Outcome, name: str) -> bool | None:
    return next((rank == 0 for n, (_, rank) in outcome.before.items() if base(n) == name), None)


def _requires_grad(subject: Subject) -> bool:
    verdicts = [o.requires_grad for c, _ in subject.runs[:8] if not (o := subject.run(c, grad=True)).error]
    if verdicts:
        return any(verdicts) or not _any_float(subject)
    return True


def _any_float(subject: Subject) -> bool:
    return any(t.is_floating_point() for c, _ in subject.runs for t in operands(subject.bound(c)).values())


def effects(subject: Subject, outcomes: list[Outcome]) -> Cells:
    """``mutates``, ``view``/``may_view``, ``sync`` and ``random``."""
    row: Cells = {}
    clean = [o for _, o in subject.runs]
    row["mutates"] = _ordered(base(n) for o in clean for n in sorted(o.mutated) if base(n) != "out")
    sharing = [o.shares - o.mutated for o in clean]
    always = frozenset.intersection(*sharing) if sharing else frozenset()
    if always and len(always) == 1:
        row["view"] = base(next(iter(always)))
    elif any(sharing):
        row["may_view"] = base(sorted(frozenset.union(*sharing))[0])
    reads = [any(_tags(op) & _READING_BACK for op in o.ops) for o in clean]
    if reads and all(reads):
        row["sync"] = "always"
    if any("nondeterministic_seeded" in _tags(op) for o in clean for op in o.ops):
        row["random"] = True
    return row


def _tags(op: Any) -> frozenset[str]:
    return frozenset(str(tag).rpartition(".")[2] for tag in getattr(op, "tags", ()))


def dtype_limits(subject: Subject) -> Cells:
    """``match`` and ``index_dtypes``: what the CPU refuses when one operand alone changes its dtype."""
    clash: set[tuple[str, str]] = set()
    fine: set[tuple[str, str]] = set()
    accepted: dict[str, list[set[str]]] = {}
    for call, _ in subject.runs[:8]:
        given = operands(subject.bound(call))
        floats = [n for n, t in given.items() if t.is_floating_point() and t.dim() > 0]
        for one in floats:
            for two in floats:
                if base(one) < base(two) or (base(one) == base(two) and one < two):
                    verdict = _refuses(subject, call, given, one, two)
                    (clash if verdict else fine).add((base(one), base(two)))
        for name, tensor in given.items():
            if tensor.dtype in (torch.int64, torch.int32) and len(given) > 1 and floats:
                accepted.setdefault(base(name), []).append(_accepted_integers(subject, call, name, tensor))
    row: Cells = {}
    groups = _groups([pair for pair in clash if pair not in fine])
    order = {n: i for i, n in enumerate(subject.tensor_names)}
    if groups:
        row["match"] = [sorted(g, key=lambda n: order.get(n, 99)) for g in groups]
    limits = {name: sorted(set.intersection(*sets)) for name, sets in accepted.items()}
    row["index_dtypes"] = {n: kinds for n, kinds in limits.items() if kinds and len(kinds) < len(_INTEGRAL)}
    return row


_INTEGRAL = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.float32)


def _accepted_integers(subject: Subject, call: Call, name: str, tensor: torch.Tensor) -> set[str]:
    taken = set()
    for dtype in _INTEGRAL:
        changed = replace(call, subject.overloads, {name: tensor.to(dtype)})
        if not subject.run(changed).error:
            taken.add(str(dtype).removeprefix("torch."))
    return taken


def _refuses(subject: Subject, call: Call, given: dict[str, torch.Tensor], one: str, two: str) -> bool:
    """Whether float64 beside float32 is refused in these two operands, all others following the first, then the second."""
    verdicts = []
    for odd in (one, two):
        mixed = subject.run(replace(call, subject.overloads, {odd: given[odd].double()}))
        verdicts.append(bool(mixed.error))
    return all(verdicts)


def _groups(pairs: list[tuple[str, str]]) -> list[list[str]]:
    groups: list[set[str]] = []
    for one, two in sorted(pairs):
        joined = [g for g in groups if one in g or two in g]
        merged = {one, two}.union(*joined)
        groups = [g for g in groups if g not in joined] + [merged]
    return [sorted(g) for g in groups]


__all__ = ["Cells", "Operand", "Subject", "base", "cells"]
