"""Cells of the semantics table for the effects of a torch call.

The effects are: writing to operands, sharing their storage, waiting for the device, drawing random numbers, and whether
results require grad.
"""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.derive.call_probe import dense_operands, parameter_of, probe_call
from devlint.runtime.derive.probed_callable import Cells, ProbedCall, ProbedCallable
from devlint.runtime.derive.signatures import Signature

_READING_BACK = frozenset({"data_dependent_output", "dynamic_output_shape"})
"""Tags of operators that read device data on the host."""


def cells(subject: ProbedCallable) -> Cells:
    """Return a callable's semantics-table cells ``mutates``, ``view``, ``may_view``, ``sync``, ``random`` and ``grad``.

    They are found by the callable's sample calls on the CPU.
    """
    row: Cells = {}
    outcomes = [t.outcome for t in subject.probed_calls]
    row["mutates"] = [n for n in subject.tensor_names if any(n in map(parameter_of, o.mutated) for o in outcomes)]
    row |= _view_cells(subject)
    if all(any(_tags(op) & _READING_BACK for op in o.ops) for o in outcomes):
        row["sync"] = "always"
    if any("nondeterministic_seeded" in _tags(op) for o in outcomes for op in o.ops):
        row["random"] = True
    if not _requires_grad(subject):
        row["grad"] = "none"
    return row


def declared_cells(overloads: list[Signature], row: Cells) -> Cells:
    """Return the semantics-table cells ``mutates``, ``may_view``, ``random`` that native_functions.yaml adds to a row.

    That file of torch declares written operands, shared storage and random generators.
    """
    arguments = [(s, a) for s in overloads if s.native is not None for a in _schema_arguments(s)]
    annotated = [(_parameter_name(s, a.name), a.annotation, s) for s, a in arguments if a.annotation is not None]
    writes = [name for name, annotation, _ in annotated if annotation.is_write]
    shares = [
        name for name, annotation, s in annotated if not annotation.is_write and _result_shares_storage(annotation, s)
    ]
    found: Cells = {"mutates": list(dict.fromkeys([*row.get("mutates", ()), *writes]))} if arguments else {}
    if shares and not (row.get("view") or row.get("may_view") or writes):
        found["may_view"] = shares[0]
    if any("Generator" in str(a.type) for _, a in arguments):
        found["random"] = True
    return found


def _schema_arguments(signature: Signature) -> list[Any]:
    """Return the arguments that torch's native_functions.yaml declares for a signature, none if it does not list it."""
    arguments = signature.native.func.arguments if signature.native is not None else None
    return [] if arguments is None else [*arguments.flat_positional, *arguments.flat_kwarg_only]


def _parameter_name(signature: Signature, argument: str) -> str:
    """Return the public name of a parameter, given the name of the argument in torch's native_functions.yaml.

    The name is "input" for the argument ``self`` if the signature is that of a function, else the argument's own name.
    """
    return argument if signature.param(argument) is not None else "input"


def _result_shares_storage(annotation: Any, signature: Signature) -> bool:
    """Return whether native_functions.yaml declares that a result shares storage with the argument so annotated."""
    returned = signature.native.func.returns if signature.native is not None else ()
    return any(r.annotation is not None and annotation.alias_set == r.annotation.alias_set for r in returned)


def _tags(op: Any) -> frozenset[str]:
    """Return the names of the tags, such as "pointwise", that torch gives to an ATen operator."""
    return frozenset(str(tag).rpartition(".")[2] for tag in getattr(op, "tags", ()))


def _view_cells(subject: ProbedCallable) -> Cells:
    """Return the semantics-table cell ``view`` or ``may_view``: the operand whose storage a callable's results share.

    The cell is ``view`` if the results of all probed calls share it, ``may_view`` if those of some calls do. The dict
    is empty if no result shares an operand's storage.
    """
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
    """Return a call's operands of two or more dimensions, with the last two dimensions in swapped memory order.

    Values and shapes stay as they are.
    """
    given = dense_operands(subject.bound(probed.call))
    return {n: t.mT.contiguous().mT for n, t in given.items() if t.dim() >= 2}


def _requires_grad(subject: ProbedCallable) -> bool:
    """Return whether a result of the callable can require grad.

    Calls whose floating-point operands require grad are made to see it. Returns True if no such call can be made.
    """
    verdicts = []
    for probed in subject.calls_to_vary():
        floating = any(t.is_floating_point() for t in dense_operands(subject.bound(probed.call)).values())
        outcome = probe_call(probed.function, subject.overloads, probed.call, grad=True)
        if floating and not outcome.error and outcome.tensors:
            verdicts.append(any(t.requires_grad for t in outcome.tensors))
    return any(verdicts) or not verdicts
