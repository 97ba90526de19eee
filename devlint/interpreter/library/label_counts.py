"""Models of functions that count the labels of a dataset or compute class weights from labels, for their dtypes.

Counts are integers, and class weights are arrays of float64.
"""

from __future__ import annotations

from typing import Final

from devlint.domain.dtype import Dtype, DtypeSource
from devlint.domain.objects import Dict, Sequence
from devlint.domain.placement import StepKind
from devlint.domain.value import UNKNOWN, Array, Const, Number, Rank, Tuple, Value
from devlint.interpreter.numpy.array_calls import call_numpy, report_tensors_read
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

EXTRA_RESULTS: Final = ("return_index", "return_inverse", "return_counts")
"""The options of `np.unique` that add a result after the values, in the order of the results."""


@models_call("collections.Counter")
def counter(frame: Frame, call: LibraryCall) -> Value:
    """Model `collections.Counter(labels)`: a dict with integers as values."""
    return frame.allocate(call.node, Dict({}, Number("int")))


@models_call("dict.most_common")
def most_common(frame: Frame, call: LibraryCall) -> Value:
    """Model `counter.most_common()`: a list of pairs of a key and its count."""
    thing = frame.object_of(call.receiver)
    return (
        frame.allocate(call.node, Sequence(None, Tuple((thing.key, thing.any)))) if isinstance(thing, Dict) else UNKNOWN
    )


@models_call("numpy.unique")
def unique(frame: Frame, call: LibraryCall) -> Value:
    """Model `np.unique(labels, return_counts=True)`: the array of distinct values.

    If the call requests indices, inverse or counts, the result is a tuple of that array and one int64 array for each.
    """
    alone = call_numpy(frame, call)
    requested = [
        call.arguments.value(name, position) or Const(False) for position, name in enumerate(EXTRA_RESULTS, start=1)
    ]
    if not call.arguments.complete or not all(isinstance(one, Const) for one in requested):
        return UNKNOWN
    extras = tuple(Array(Dtype("int64", DtypeSource.NUMPY), rank=Rank.SOME) for one in requested if one == Const(True))
    if not extras:
        return alone
    first = call.first.value if call.first is not None else UNKNOWN
    values = Array(first.dtype if isinstance(first, Array) else Array().dtype, rank=Rank.SOME)
    return Tuple((values, *extras))


@models_call(
    "sklearn.utils.class_weight.compute_class_weight",
    "sklearn.utils.class_weight.compute_sample_weight",
    "sklearn.utils.compute_class_weight",
    "sklearn.utils.compute_sample_weight",
)
def class_weights(frame: Frame, call: LibraryCall) -> Value:
    """Model `compute_class_weight` and `compute_sample_weight` of scikit-learn: an array of float64."""
    report_tensors_read(frame, call)
    step = frame.step(StepKind.CREATED, f"made in float64 by `{call.name.rpartition('.')[2]}`", call.node)
    return Array(Dtype("float64", DtypeSource.NUMPY, step), rank=Rank.SOME, provenance=step)
