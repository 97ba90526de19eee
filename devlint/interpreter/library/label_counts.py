"""Counts of labels, and the weights computed from them: whole numbers, and float64."""

from __future__ import annotations

from typing import Final

from devlint.domain.dtype import Dtype, Source
from devlint.domain.objects import Dict, Sequence
from devlint.domain.placement import Kind
from devlint.domain.value import UNKNOWN, Array, Const, Number, Rank, Ref, Tuple, Value
from devlint.interpreter.numpy.array_calls import numpy_call, read_tensors
from devlint.interpreter.state.arguments import Invocation
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model

EXTRAS: Final = ("return_index", "return_inverse", "return_counts")
"""What `np.unique` returns beside the values, in this order, where it is asked for."""


@model("collections.Counter")
def counter(run: Run, call: Invocation) -> Value:
    """`Counter(labels)`: a number for each key."""
    return run.allocate(call.node, Dict({}, Number("int")))


@model("dict.most_common")
def most_common(run: Run, call: Invocation) -> Value:
    """`counter.most_common()`: keys with their counts."""
    thing = run.get(call.receiver.address) if isinstance(call.receiver, Ref) else None
    return (
        run.allocate(call.node, Sequence(None, Tuple((thing.key, thing.any)))) if isinstance(thing, Dict) else UNKNOWN
    )


@model("numpy.unique")
def unique(run: Run, call: Invocation) -> Value:
    """`np.unique(labels, return_counts=True)`: the values, and what else is asked for."""
    alone = numpy_call(run, call)
    asked = [call.arguments.value(name, position) or Const(False) for position, name in enumerate(EXTRAS, start=1)]
    if not call.arguments.complete or not all(isinstance(one, Const) for one in asked):
        return UNKNOWN
    extras = tuple(Array(Dtype("int64", Source.NUMPY), rank=Rank.SOME) for one in asked if one == Const(True))
    if not extras:
        return alone
    first = call.first.value if call.first is not None else UNKNOWN
    values = Array(first.dtype if isinstance(first, Array) else Array().dtype, rank=Rank.SOME)
    return Tuple((values, *extras))


@model(
    "sklearn.utils.class_weight.compute_class_weight",
    "sklearn.utils.class_weight.compute_sample_weight",
    "sklearn.utils.compute_class_weight",
    "sklearn.utils.compute_sample_weight",
)
def weights(run: Run, call: Invocation) -> Value:
    """Weights of classes or samples, in float64."""
    read_tensors(run, call)
    step = run.step(Kind.CREATED, f"made by {call.name.rpartition('.')[2]} in float64", call.node)
    return Array(Dtype("float64", Source.NUMPY, step), rank=Rank.SOME, trace=step)
