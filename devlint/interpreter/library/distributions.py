"""torch.distributions: what a distribution draws lies where its parameters do; on the host, if these are numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.device import is_host
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.objects import Instance
from devlint.domain.placement import How, Kind, Leaf, Placement, transform
from devlint.domain.value import UNKNOWN, Const, Number, Rank, Ref, Tensor, Value, as_tensor, computed
from devlint.interpreter.operations.device_arguments import default_placement
from devlint.interpreter.operations.device_conflicts import find_clash
from devlint.interpreter.operations.result_tensors import group_placement
from devlint.interpreter.operations.tensor_ranks import broadcast, rank_of_shape
from devlint.interpreter.state.arguments import Invocation
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model

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


@model(*_names())
def distribution(run: Run, call: Invocation) -> Value:
    """`Normal(mean, std)`: parameters are tensors; numbers become 0-dim tensors on the default device."""
    given = {
        name: value
        for position, name in enumerate(_names()[call.name])
        if (value := call.arguments.value(name, position)) is not None and value != Const(None)
    }
    tensors = {name: run.settle(tensor) for name, value in given.items() if (tensor := _tensor(value)) is not None}
    if not tensors:
        placement = default_placement(run, call.name.rpartition(".")[2], call.node)
        tensors = {name: Tensor(placement, Dtype("float32"), Rank.ZERO) for name in given}
    one = computed(next(iter(tensors.values()), Tensor()))
    moments = {name: replace(one, placement=group_placement(list(tensors.values()))) for name in MOMENTS}
    family = call.name.rpartition(".")[2]
    return run.allocate(call.node, Instance(f"{PACKAGE}{family}", {**moments, **tensors}))


def _tensor(value: Value) -> Tensor | None:
    return None if isinstance(value, (Const, Number)) else as_tensor(value) or Tensor()


def _parameters(run: Run, value: Value | None) -> list[Tensor]:
    """The tensors that a distribution is made of, as they are now."""
    thing = run.instance(value) if isinstance(value, Ref) else None
    if thing is None or not (isinstance(thing.cls, str) and thing.cls.startswith(PACKAGE)):
        return []
    kept = (one for name, one in thing.attributes.items() if name not in MOMENTS)
    return [run.settle(one) for one in kept if isinstance(one, Tensor)]


@model(f"{ANY}.sample", f"{ANY}.rsample", f"{ANY}.sample_n")
def draw(run: Run, call: Invocation) -> Value:
    """A draw: where the parameters are, in their shape and as many as are asked for."""
    parameters = _parameters(run, call.receiver)
    if not parameters:
        return UNKNOWN
    thing = run.instance(call.receiver) if call.receiver is not None else None
    discrete = thing is not None and thing.cls == INDICES
    asked = call.arguments.get("sample_shape", 0)
    own = broadcast(one.rank for one in parameters)
    rank = rank_of_shape(run, [asked]) if asked is not None else own.fewer if discrete else own
    dtype = Dtype("int64") if discrete else parameters[0].dtype
    placement = _drawn(run, group_placement(parameters), call.node)
    return Tensor(placement, dtype, rank, grad=False if call.name != "rsample" else None)


def _drawn(run: Run, placement: Placement, node: cst.CSTNode) -> Placement:
    """Where a draw lies: one from parameters that nobody has brought anywhere is made on the host here."""
    step = run.step(Kind.CREATED, "drawn on the host, where the parameters of the distribution are", node)

    def change(leaf: Leaf) -> Leaf:
        return replace(leaf, trace=step) if is_host(leaf.device) and leaf.how is How.DEFAULT else leaf

    return transform(placement, change)


@model(f"{ANY}.log_prob", f"{ANY}.cdf", f"{ANY}.icdf")
def density(run: Run, call: Invocation) -> Value:
    """What is computed of a value and the parameters, which must be in one place."""
    value = call.arguments.get("value", 0)
    tensor = as_tensor(value.value) if value is not None else None
    operands = list(_operands(run, call.receiver, call.receiver_node))
    if value is not None and tensor is not None:
        operands.append(Operand("value", run.place(value.node), run.settle(tensor)))
    return _computed(run, call, operands)


@model(f"{PACKAGE}kl_divergence", f"{PACKAGE}kl.kl_divergence")
def divergence(run: Run, call: Invocation) -> Value:
    """The divergence of two distributions, whose parameters must be in one place."""
    sides = [[*_operands(run, side.value, side.node)] for side in call.arguments.positional[:2]]
    return _computed(run, call, [one for side in sides for one in side]) if all(sides) else UNKNOWN


@model(f"{ANY}.entropy")
def entropy(run: Run, call: Invocation) -> Value:
    """What is computed of the parameters alone."""
    return _computed(run, call, list(_operands(run, call.receiver, call.receiver_node)))


@model(f"{PACKAGE}Independent", f"{ANY}.expand")
def same(run: Run, call: Invocation) -> Value:
    """The same parameters, seen as another shape of distribution."""
    return call.receiver or (call.first.value if call.first is not None else UNKNOWN)


def _operands(run: Run, value: Value | None, node: cst.BaseExpression) -> Iterator[Operand]:
    for parameter in _parameters(run, value):
        yield Operand("parameters", run.place(node), parameter, inside=True)


def _computed(run: Run, call: Invocation, operands: list[Operand]) -> Value:
    if not operands:
        return UNKNOWN
    name = call.name.rpartition(".")[2]
    clash = find_clash(run, call.node, f".{name}()" if call.receiver is not None else name, operands, "many")
    if clash is not None:
        run.emit(clash)
        return Tensor(clash.other.tensor.placement)
    tensors = [one.tensor for one in operands]
    return Tensor(group_placement(tensors), UNKNOWN_DTYPE, broadcast(one.rank for one in tensors))
