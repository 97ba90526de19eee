"""torch.distributions: what a distribution draws lies where its parameters do; on the host, if these are numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.device import is_host
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.objects import Instance
from devlint.domain.placement import Basis, Placement, PlacementCase, StepKind, map_cases
from devlint.domain.value import UNKNOWN, Const, Number, Rank, Tensor, Value, as_tensor, computed_tensor
from devlint.interpreter.operations.device_arguments import default_placement
from devlint.interpreter.operations.device_conflicts import find_device_conflict
from devlint.interpreter.operations.result_tensors import meet_of_placements
from devlint.interpreter.operations.tensor_ranks import broadcast_rank, rank_of_shape
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

PARAMETERS: Final = {
    "normal.Normal": ("loc", "scale"),
    "log_normal.LogNormal": ("loc", "scale"),
    "laplace.Laplace": ("loc", "scale"),
    "cauchy.Cauchy": ("loc", "scale"),
    "gumbel.Gumbel": ("loc", "scale"),
    "half_normal.HalfNormal": ("scale",),
    "uniform.Uniform": ("low", "high"),
    "beta.Beta": ("concentration1", "concentration0"),
    "gamma.Gamma": ("concentration", "rate"),
    "exponential.Exponential": ("rate",),
    "poisson.Poisson": ("rate",),
    "dirichlet.Dirichlet": ("concentration",),
    "bernoulli.Bernoulli": ("probs", "logits"),
    "categorical.Categorical": ("probs", "logits"),
    "one_hot_categorical.OneHotCategorical": ("probs", "logits"),
    "multivariate_normal.MultivariateNormal": ("loc", "covariance_matrix"),
}
"""The families, with the parameters that decide where they draw."""

PACKAGE: Final = "torch.distributions."
ANY: Final = f"{PACKAGE}*"
"""A distribution of any family."""

INDICES: Final = f"{PACKAGE}Categorical"
"""The family that draws indices."""

MOMENTS: Final = ("mean", "stddev", "variance")


def _names() -> dict[str, tuple[str, ...]]:
    found = {f"{PACKAGE}{name}": names for name, names in PARAMETERS.items()}
    return found | {f"{PACKAGE}{name.partition('.')[2]}": names for name, names in PARAMETERS.items()}


@models_call(*_names())
def distribution(frame: Frame, call: LibraryCall) -> Value:
    """`Normal(mean, std)`: parameters are tensors; numbers become 0-dim tensors on the default device."""
    given = {
        name: value
        for position, name in enumerate(_names()[call.name])
        if (value := call.arguments.value(name, position)) is not None and value != Const(None)
    }
    tensors = {name: frame.resolve(tensor) for name, value in given.items() if (tensor := _tensor(value)) is not None}
    if not tensors:
        placement = default_placement(frame, call.name.rpartition(".")[2], call.node)
        tensors = {name: Tensor(placement, Dtype("float32"), Rank.ZERO) for name in given}
    one = computed_tensor(next(iter(tensors.values()), Tensor()))
    moments = {name: replace(one, placement=meet_of_placements(list(tensors.values()))) for name in MOMENTS}
    family = call.name.rpartition(".")[2]
    return frame.allocate(call.node, Instance(f"{PACKAGE}{family}", {**moments, **tensors}))


def _tensor(value: Value) -> Tensor | None:
    return None if isinstance(value, (Const, Number)) else as_tensor(value) or Tensor()


def _parameters(frame: Frame, value: Value | None) -> list[Tensor]:
    """The tensors that a distribution is made of, as they are now."""
    thing = frame.instance(value)
    if thing is None or not (isinstance(thing.cls, str) and thing.cls.startswith(PACKAGE)):
        return []
    kept = (one for name, one in thing.attributes.items() if name not in MOMENTS)
    return [frame.resolve(one) for one in kept if isinstance(one, Tensor)]


@models_call(f"{ANY}.sample", f"{ANY}.rsample", f"{ANY}.sample_n")
def draw(frame: Frame, call: LibraryCall) -> Value:
    """A draw: where the parameters are, in their shape and as many as are asked for."""
    parameters = _parameters(frame, call.receiver)
    if not parameters:
        return UNKNOWN
    thing = frame.instance(call.receiver)
    discrete = thing is not None and thing.cls == INDICES
    asked = call.arguments.get("sample_shape", 0)
    own = broadcast_rank(one.rank for one in parameters)
    rank = rank_of_shape(frame, [asked]) if asked is not None else own.fewer if discrete else own
    dtype = Dtype("int64") if discrete else parameters[0].dtype
    placement = _drawn(frame, meet_of_placements(parameters), call.node)
    return Tensor(placement, dtype, rank, grad=False if call.name != "rsample" else None)


def _drawn(frame: Frame, placement: Placement, node: cst.CSTNode) -> Placement:
    """Where a draw lies: one from parameters that nobody has brought anywhere is made on the host here."""
    step = frame.step(StepKind.CREATED, "drawn on the host, where the parameters of the distribution are", node)

    def change(leaf: PlacementCase) -> PlacementCase:
        return replace(leaf, provenance=step) if is_host(leaf.device) and leaf.basis is Basis.DEFAULT else leaf

    return map_cases(placement, change)


@models_call(f"{ANY}.log_prob", f"{ANY}.cdf", f"{ANY}.icdf")
def density(frame: Frame, call: LibraryCall) -> Value:
    """What is computed of a value and the parameters, which must be in one place."""
    value = call.arguments.get("value", 0)
    tensor = as_tensor(value.value) if value is not None else None
    operands = list(_operands(frame, call.receiver, call.receiver_node))
    if value is not None and tensor is not None:
        operands.append(Operand("value", frame.place(value.node), frame.resolve(tensor)))
    return _computed(frame, call, operands)


@models_call(f"{PACKAGE}kl_divergence", f"{PACKAGE}kl.kl_divergence")
def divergence(frame: Frame, call: LibraryCall) -> Value:
    """The divergence of two distributions, whose parameters must be in one place."""
    sides = [[*_operands(frame, side.value, side.node)] for side in call.arguments.positional[:2]]
    return _computed(frame, call, [one for side in sides for one in side]) if all(sides) else UNKNOWN


@models_call(f"{ANY}.entropy")
def entropy(frame: Frame, call: LibraryCall) -> Value:
    """What is computed of the parameters alone."""
    return _computed(frame, call, list(_operands(frame, call.receiver, call.receiver_node)))


@models_call(f"{PACKAGE}Independent", f"{ANY}.expand")
def same(frame: Frame, call: LibraryCall) -> Value:
    """The same parameters, seen as another shape of distribution."""
    return call.receiver or (call.first.value if call.first is not None else UNKNOWN)


def _operands(frame: Frame, value: Value | None, node: cst.BaseExpression) -> Iterator[Operand]:
    for parameter in _parameters(frame, value):
        yield Operand("parameters", frame.place(node), parameter, inside=True)


def _computed(frame: Frame, call: LibraryCall, operands: list[Operand]) -> Value:
    if not operands:
        return UNKNOWN
    name = call.name.rpartition(".")[2]
    clash = find_device_conflict(
        frame, call.node, f".{name}()" if call.receiver is not None else name, operands, "many"
    )
    if clash is not None:
        frame.emit(clash)
        return Tensor(clash.other.tensor.placement)
    tensors = [one.tensor for one in operands]
    return Tensor(meet_of_placements(tensors), UNKNOWN_DTYPE, broadcast_rank(one.rank for one in tensors))
