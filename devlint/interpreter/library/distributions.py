"""Models of `torch.distributions`: a sample is placed where the parameters are, on the host if these are numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.device import is_accelerator, is_host
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.objects import Instance
from devlint.domain.placement import Basis, Placement, PlacementCase, StepKind, map_cases, placement_cases
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
"""The parameters of each family of distributions; their placement is the placement of the draws."""

PACKAGE: Final = "torch.distributions."
ANY_FAMILY: Final = f"{PACKAGE}*"
"""The name under which methods of every family are registered."""

CATEGORICAL: Final = f"{PACKAGE}Categorical"
"""The family whose draws are indices, of dtype int64."""

MOMENTS: Final = ("mean", "stddev", "variance")
"""Attributes that are computed from the parameters."""


def _parameters_by_name() -> dict[str, tuple[str, ...]]:
    """Return the parameter names of each class of `torch.distributions`, keyed by both dotted names of the class.

    `torch.distributions.normal.Normal` is also available as `torch.distributions.Normal`.
    """
    found = {f"{PACKAGE}{name}": names for name, names in PARAMETERS.items()}
    return found | {f"{PACKAGE}{name.partition('.')[2]}": names for name, names in PARAMETERS.items()}


@models_call(*_parameters_by_name())
def distribution(frame: Frame, call: LibraryCall) -> Value:
    """Model `Normal(mean, std)`: an object with the tensor parameters, and tensors such as `mean`, as attributes.

    Parameters that are numbers become 0-dim tensors on the default device, unless another parameter is a tensor. torch
    reads back whether the parameters are valid, unless it is told not to ask.
    """
    given = {
        name: value
        for position, name in enumerate(_parameters_by_name()[call.name])
        if (value := call.arguments.value(name, position)) is not None and value != Const(None)
    }
    tensors = {
        name: frame.resolve(tensor) for name, value in given.items() if (tensor := _parameter_tensor(value)) is not None
    }
    if not tensors:
        placement = default_placement(frame, call.name.rpartition(".")[2], call.node)
        tensors = {name: Tensor(placement, Dtype("float32"), Rank.ZERO) for name in given}
    if call.arguments.constant("validate_args", None, True) is not False:
        _wait_for_values(frame, tensors.values())
    one = computed_tensor(next(iter(tensors.values()), Tensor()))
    moments = {name: replace(one, placement=meet_of_placements(list(tensors.values()))) for name in MOMENTS}
    family = call.name.rpartition(".")[2]
    return frame.allocate(call.node, Instance(f"{PACKAGE}{family}", {**moments, **tensors}))


def _wait_for_values(frame: Frame, tensors: Iterable[Tensor]) -> None:
    """Record that the host reads a check of some tensors' values, which waits for the accelerator they are on."""
    placements = (leaf for one in tensors for _, leaf in placement_cases(one.placement, frame.state.path_condition))
    if any(is_accelerator(leaf.device) for leaf in placements):
        frame.synchronize()


def _parameter_tensor(value: Value) -> Tensor | None:
    """Return a parameter of a distribution as a tensor; None for a number.

    For any other value, return a tensor of unknown device and dtype.
    """
    return None if isinstance(value, (Const, Number)) else as_tensor(value) or Tensor()


def _current_parameters(frame: Frame, value: Value | None) -> list[Tensor]:
    """Return the tensors that a distribution was constructed with, with the placements they have at this point."""
    thing = frame.instance(value)
    if thing is None or not (isinstance(thing.cls, str) and thing.cls.startswith(PACKAGE)):
        return []
    kept = (one for name, one in thing.attributes.items() if name not in MOMENTS)
    return [frame.resolve(one) for one in kept if isinstance(one, Tensor)]


@models_call(f"{ANY_FAMILY}.sample", f"{ANY_FAMILY}.rsample", f"{ANY_FAMILY}.sample_n")
def draw(frame: Frame, call: LibraryCall) -> Value:
    """Model `distribution.sample(shape)`, `rsample` and `sample_n`: a tensor where the parameters are.

    Its rank is that of the parameters, or that of the shape passed.
    """
    parameters = _current_parameters(frame, call.receiver)
    if not parameters:
        return UNKNOWN
    thing = frame.instance(call.receiver)
    discrete = thing is not None and thing.cls == CATEGORICAL
    shape = call.arguments.get("sample_shape", 0)
    own = broadcast_rank(one.rank for one in parameters)
    rank = rank_of_shape(frame, [shape]) if shape is not None else own.fewer if discrete else own
    dtype = Dtype("int64") if discrete else parameters[0].dtype
    placement = _placement_of_draw(frame, meet_of_placements(parameters), call.node)
    return Tensor(placement, dtype, rank, grad=False if call.name != "rsample" else None)


def _placement_of_draw(frame: Frame, placement: Placement, node: cst.CSTNode) -> Placement:
    """Return the placement of a sample drawn from distribution parameters of a given placement: the same device.

    Where the parameters are on the host only by torch's default, the sample's provenance starts anew, at the draw.
    """
    step = frame.step(StepKind.CREATED, "drawn on the host, where the parameters of the distribution are", node)

    def change(leaf: PlacementCase) -> PlacementCase:
        return replace(leaf, provenance=step) if is_host(leaf.device) and leaf.basis is Basis.DEFAULT else leaf

    return map_cases(placement, change)


@models_call(f"{ANY_FAMILY}.log_prob", f"{ANY_FAMILY}.cdf", f"{ANY_FAMILY}.icdf")
def density(frame: Frame, call: LibraryCall) -> Value:
    """Model `distribution.log_prob(value)`, `cdf` and `icdf`: a tensor computed from value and parameters.

    A value on another device than the parameters is reported.
    """
    value = call.arguments.get("value", 0)
    tensor = as_tensor(value.value) if value is not None else None
    operands = list(_parameter_operands(frame, call.receiver, call.receiver_node))
    if value is not None and tensor is not None:
        operands.append(Operand("value", frame.place(value.node), frame.resolve(tensor)))
    return _compute(frame, call, operands)


@models_call(f"{PACKAGE}kl_divergence", f"{PACKAGE}kl.kl_divergence")
def kl_divergence(frame: Frame, call: LibraryCall) -> Value:
    """Model `kl_divergence(p, q)`: a tensor computed from the parameters of both distributions.

    Parameters on different devices are reported.
    """
    sides = [[*_parameter_operands(frame, side.value, side.node)] for side in call.arguments.positional[:2]]
    return _compute(frame, call, [one for side in sides for one in side]) if all(sides) else UNKNOWN


@models_call(f"{ANY_FAMILY}.entropy")
def entropy(frame: Frame, call: LibraryCall) -> Value:
    """Model `distribution.entropy()`: a tensor computed from the distribution's parameters."""
    return _compute(frame, call, list(_parameter_operands(frame, call.receiver, call.receiver_node)))


@models_call(f"{PACKAGE}Independent", f"{ANY_FAMILY}.expand")
def reshaped_distribution(frame: Frame, call: LibraryCall) -> Value:
    """Model `Independent(distribution, n)` and `distribution.expand(shape)`: the same distribution and parameters."""
    return call.receiver or (call.first.value if call.first is not None else UNKNOWN)


def _parameter_operands(frame: Frame, value: Value | None, node: cst.BaseExpression) -> Iterator[Operand]:
    """Yield the parameters of a distribution object, such as mean and deviation, as operands of an operation."""
    for parameter in _current_parameters(frame, value):
        yield Operand("parameters", frame.place(node), parameter, inside=True)


def _compute(frame: Frame, call: LibraryCall, operands: list[Operand]) -> Value:
    """Return the tensor that an operation computes from operands; report a device conflict between the operands."""
    if not operands:
        return UNKNOWN
    name = call.name.rpartition(".")[2]
    conflict = find_device_conflict(
        frame, call.node, f".{name}()" if call.receiver is not None else name, operands, "many"
    )
    if conflict is not None:
        frame.emit(conflict)
        return Tensor(conflict.reference.tensor.placement)
    tensors = [one.tensor for one in operands]
    return Tensor(meet_of_placements(tensors), UNKNOWN_DTYPE, broadcast_rank(one.rank for one in tensors))
