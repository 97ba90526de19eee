"""Cells of the semantics table for dtypes that a torch callable refuses.

They tell which operands must have equal dtypes, and which dtypes are accepted for integer or bool operands beside
floating-point ones, such as indices, and for the targets of loss functions.
"""

from __future__ import annotations

from itertools import combinations, product

import torch

from devlint.runtime.derive.call_probe import FLOATS, dense_operands, parameter_of, variation_groups
from devlint.runtime.derive.probed_callable import Cells, ProbedCall, ProbedCallable

_DTYPES = tuple(getattr(torch, n) for n in "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split())
_INTEGRAL = (torch.int64, torch.int32, torch.bool)
_TARGETS = frozenset({"target", "targets", "target_"})
_MANY_OPERANDS, _MANY_CALLS = 5, 8
Pair = tuple[str, str]


def cells(subject: ProbedCallable, loss: bool) -> Cells:
    """Return a callable's semantics-table cells ``match``, ``match_or_half``, ``index_dtypes`` and ``target_dtypes``.

    They tell the operand dtypes that the callable refuses. With ``loss``, the callable is a loss function.
    """
    return _equal_dtype_cells(subject) | _allowed_dtype_cells(subject, loss)


def _equal_dtype_cells(subject: ProbedCallable) -> Cells:
    """Return the semantics-table cells ``match`` and ``match_or_half``: groups of operands that must have equal dtypes.

    The operands are floating-point. Those in ``match_or_half`` may also be of half precision beside float32.
    """
    conflict: dict[Pair, bool] = {}
    fine: set[Pair] = set()
    for probed in subject.calls_to_vary()[:_MANY_CALLS]:
        given = dense_operands(subject.bound(probed.call))
        floats = variation_groups(n for n, t in given.items() if t.is_floating_point() and t.dim() > 0)
        for one, two in combinations(list(floats)[:_MANY_OPERANDS], 2):
            pair = (parameter_of(one), parameter_of(two))
            if pair in fine:
                continue
            if _accepts_different_dtypes(subject, probed, floats, one, two, torch.float64):
                fine.add(pair)
            else:
                half = any(
                    _accepts_different_dtypes(subject, probed, floats, a, b, dtype)
                    for a, b in ((one, two), (two, one))
                    for dtype in (torch.bfloat16, torch.float16)
                )
                conflict[pair] = conflict.get(pair, False) or half
    strict = [p for p, half in conflict.items() if p not in fine and not half]
    lenient = [p for p, half in conflict.items() if p not in fine and half]
    return {"match": _groups(strict, subject), "match_or_half": _groups(lenient, subject)}


def _accepts_different_dtypes(
    subject: ProbedCallable, probed: ProbedCall, floats: dict[str, list[str]], one: str, two: str, dtype: torch.dtype
) -> bool:
    """Return whether a call runs with operand ``one`` in ``dtype`` and operand ``two`` in float32.

    The other floating-point operands are tried in every combination of these two dtypes; one that runs is enough.
    """
    given = dense_operands(subject.bound(probed.call))
    others = [n for n in floats if n not in (one, two)][:_MANY_OPERANDS]
    for choice in product((False, True), repeat=len(others)):
        chosen = [one, *(n for n, wide in zip(others, choice, strict=True) if wide)]
        if not subject.probe_variation(probed, {n: given[n].to(dtype) for unit in chosen for n in floats[unit]}).error:
            return True
    return False


def _groups(pairs: list[Pair], subject: ProbedCallable) -> list[list[str]]:
    """Join pairs of parameter names into groups: pairs that share a name end up in one group."""
    groups: list[set[str]] = []
    for pair in sorted(pairs):
        joined = [g for g in groups if g & set(pair)]
        groups = [g for g in groups if g not in joined] + [set(pair).union(*joined)]
    return [sorted(g, key=subject.tensor_names.index) for g in groups]


def _allowed_dtype_cells(subject: ProbedCallable, loss: bool) -> Cells:
    """Return the semantics-table cells ``index_dtypes`` and ``target_dtypes``: the only dtypes for certain operands.

    ``index_dtypes`` is for integer or bool operands beside floating-point ones: the dtypes that every sample call
    accepts. ``target_dtypes`` is for the targets of loss functions: the dtypes that any sample call accepts. With
    ``loss``, the callable is a loss function.
    """
    taken: dict[str, list[set[str]]] = {}
    for probed in subject.calls_to_vary():
        given = dense_operands(subject.bound(probed.call))
        floats = [n for n, t in given.items() if t.is_floating_point()]
        for name, tensor in given.items():
            target = loss and parameter_of(name) in _TARGETS
            if target or (tensor.dtype in _INTEGRAL and floats and tensor.dim() > 0):
                taken.setdefault(parameter_of(name), []).append(_accepted_dtypes(subject, probed, name, tensor))
    row: Cells = {}
    for name, sets in taken.items():
        target = loss and name in _TARGETS
        accepted = set.union(*sets) if target else set.intersection(*sets)
        if target and accepted == {"float32"}:
            accepted = {str(d).removeprefix("torch.") for d in FLOATS}
        if accepted and len(accepted) < len(_DTYPES):
            row.setdefault("target_dtypes" if target else "index_dtypes", {})[name] = sorted(accepted)
    return row


def _accepted_dtypes(subject: ProbedCallable, probed: ProbedCall, name: str, tensor: torch.Tensor) -> set[str]:
    """Return the names of the dtypes to which one operand of a call can be cast so that the call still runs."""
    return {
        str(d).removeprefix("torch.")
        for d in _DTYPES
        if not subject.probe_variation(probed, {name: tensor.to(d)}).error
    }
