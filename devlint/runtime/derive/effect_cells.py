"""Table cells for the effects of a call: writing, sharing storage, waiting, drawing random numbers, gradients."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.derive.call_probe import dense_operands, parameter_of, probe_call
from devlint.runtime.derive.probed_callable import Cells, ProbedCall, ProbedCallable
from devlint.runtime.derive.signatures import Signature

_READING_BACK = frozenset({"data_dependent_output", "dynamic_output_shape"})
"""Tags of operators that read device data on the host."""


def cells(subject: ProbedCallable) -> Cells:
    """Return a callable's table cells ``mutates``, ``view`` or ``may_view``, ``sync``, ``random`` and ``grad``."""
    row: Cells = {}
    outcomes = [t.outcome for t in subject.probed_calls]
    row["mutates"] = [n for n in subject.tensor_names if any(n in map(parameter_of, o.mutated) for o in outcomes)]
    row |= _sharing(subject)
    if all(any(_tags(op) & _READING_BACK for op in o.ops) for o in outcomes):
        row["sync"] = "always"
    if any("nondeterministic_seeded" in _tags(op) for o in outcomes for op in o.ops):
        row["random"] = True
    if not _requires_grad(subject):
        row["grad"] = "none"
    return row


def declared_cells(overloads: list[Signature], row: Cells) -> Cells:
    """Return what the native schemas add to a table row: written operands, shared storage, random numbers."""
    arguments = [(s, a) for s in overloads if s.native is not None for a in _arguments(s)]
    annotated = [(_named(s, a.name), a.annotation, s) for s, a in arguments if a.annotation is not None]
    writes = [name for name, annotation, _ in annotated if annotation.is_write]
    shares = [name for name, annotation, s in annotated if not annotation.is_write and _comes_out(annotation, s)]
    found: Cells = {"mutates": list(dict.fromkeys([*row.get("mutates", ()), *writes]))} if arguments else {}
    if shares and not (row.get("view") or row.get("may_view") or writes):
        found["may_view"] = shares[0]
    if any("Generator" in str(a.type) for _, a in arguments):
        found["random"] = True
    return found


def _arguments(signature: Signature) -> list[Any]:
    """Return the arguments of a signature's native schema."""
    arguments = signature.native.func.arguments if signature.native is not None else None
    return [] if arguments is None else [*arguments.flat_positional, *arguments.flat_kwarg_only]


def _named(signature: Signature, argument: str) -> str:
    """Return the parameter for a schema's argument; functions call the argument ``self`` ``input``."""
    return argument if signature.param(argument) is not None else "input"


def _comes_out(annotation: Any, signature: Signature) -> bool:
    """Return whether a schema's result shares storage with an annotated argument."""
    returned = signature.native.func.returns if signature.native is not None else ()
    return any(r.annotation is not None and annotation.alias_set == r.annotation.alias_set for r in returned)


def _tags(op: Any) -> frozenset[str]:
    """Return the tag names of an operator."""
    return frozenset(str(tag).rpartition(".")[2] for tag in getattr(op, "tags", ()))


def _sharing(subject: ProbedCallable) -> Cells:
    """Return the table cell ``view`` or ``may_view`` that probed calls show."""
    outcomes = [t.outcome for t in subject.probed_calls]
    strided = [
        o for t in subject.calls_to_vary() if not (o := subject.probe_variation(t, _transposed(subject, t))).error
    ]
    shared = [frozenset(map(parameter_of, o.shares - o.mutated)) for o in (*outcomes, *strided)]
    always = frozenset.intersection(*shared)
    ever = frozenset.union(*shared)
    if len(always) == 1:
        return {"view": next(iter(always))}
    return {"may_view": min(ever, key=subject.tensor_names.index)} if ever else {}


def _transposed(subject: ProbedCallable, probed: ProbedCall) -> dict[str, torch.Tensor]:
    """Return the operands with the same shape in another memory order."""
    given = dense_operands(subject.bound(probed.call))
    return {n: t.mT.contiguous().mT for n, t in given.items() if t.dim() >= 2}


def _requires_grad(subject: ProbedCallable) -> bool:
    """Return whether a result may require grad; True if no floating-point operand shows otherwise."""
    verdicts = []
    for probed in subject.calls_to_vary():
        floating = any(t.is_floating_point() for t in dense_operands(subject.bound(probed.call)).values())
        outcome = probe_call(probed.function, subject.overloads, probed.call, grad=True)
        if floating and not outcome.error and outcome.tensors:
            verdicts.append(any(t.requires_grad for t in outcome.tensors))
    return any(verdicts) or not verdicts
