"""Rows of devlint's semantics table for the module classes of ``torch.nn``.

A row tells which parameters and buffers an instance registers, and what a call of an instance does. A module's own
parameters and buffers count as one more operand, "parameters", of the call.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.testing._internal.common_modules import module_db

from devlint.runtime.derive import (
    dtype_cells,
    dtype_limit_cells,
    effect_cells,
    handwritten_module_samples,
    rank_cells,
    return_cells,
)
from devlint.runtime.derive.probed_callable import MAX_VARIED_CALLS, ProbedCallable, probe_callable
from devlint.runtime.derive.sample_calls import SampleCall
from devlint.runtime.derive.signatures import Parameter, Signature

Row = dict[str, Any]
"""The cells of one row of the semantics table, by field name."""
CONTAINERS = frozenset(
    "Module Sequential ModuleList ModuleDict ParameterList ParameterDict Container DataParallel".split()
)
"""Module classes that hold other modules; their table rows are written by hand."""
_FLAGS = ("affine", "elementwise_affine", "track_running_stats")
"""Constructor flags that decide which parameters and buffers are registered."""


@cache
def module_classes() -> dict[str, type[nn.Module]]:
    """Return every public module class of ``torch.nn``, by its qualified name such as ``torch.nn.Linear``."""
    return {
        f"torch.nn.{name}": value
        for name, value in sorted(vars(nn).items())
        if inspect.isclass(value) and issubclass(value, nn.Module) and not name.startswith("_")
    }


def aliases() -> dict[str, str]:
    """Return the public names of the ``torch.nn`` module classes, such as ``torch.nn.Linear``, by their defining names.

    The defining name is module and class, such as ``torch.nn.modules.linear.Linear``.
    """
    return {
        f"{c.__module__}.{c.__qualname__}": name
        for name, c in module_classes().items()
        if f"{c.__module__}.{c.__qualname__}" != name and c.__qualname__ == name.rsplit(".", 1)[1]
    }


Sample = tuple[nn.Module, dict[str, Any], SampleCall]
"""An instance, the constructor's arguments, and the arguments of a call."""


def sample_instances(name: str) -> list[Sample]:
    """Return sample instances of a module class on the CPU, each with its constructor's and a call's arguments."""
    torch.manual_seed(0)
    found = list(_from_module_db(module_classes()[name]))
    return found or list(_from_hand(name))


def _from_module_db(cls: type[nn.Module]) -> Iterator[Sample]:
    """Yield samples of a module class from torch's testing database of modules.

    A sample is an instance, its constructor's arguments, and the arguments of a call.
    """
    for info in module_db:
        if info.module_cls is not cls:
            continue
        inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True)
        for sample in inputs:
            if sample.forward_input is None:
                continue
            yield from _build(
                cls,
                sample.constructor_input.args,
                sample.constructor_input.kwargs,
                sample.forward_input.args,
                sample.forward_input.kwargs,
            )


def _from_hand(name: str) -> Iterator[Sample]:
    """Yield the handwritten samples of a module class: instance, constructor arguments, call arguments."""
    for init, call in handwritten_module_samples.calls(name):
        yield from _build(module_classes()[name], init, {}, call, {})


def _build(cls: type[nn.Module], init: Any, init_kwargs: Any, args: Any, kwargs: Any) -> Iterator[Sample]:
    """Yield one sample of a module class: an instance, its constructor's arguments, and the arguments of a call.

    Yields nothing if the constructor raises an error.
    """
    signature = inspect.signature(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = cls(*init, **init_kwargs)
            bound = signature.bind(*init, **init_kwargs)
            bound.apply_defaults()
            given = dict(bound.arguments)
        except (TypeError, RuntimeError, ValueError):
            return
    yield module, given, SampleCall(tuple(args), dict(kwargs))


def forward_signature(cls: type[nn.Module]) -> Signature:
    """Return the signature by which calls of a module class are probed.

    It has the parameters of ``forward`` without ``self``, then those of the constructor as keywords, then "parameters",
    which stands for the module's own parameters and buffers.
    """
    params = []
    for parameter in list(inspect.signature(cls.forward).parameters.values())[1:]:
        kind = "var" if parameter.kind is parameter.VAR_POSITIONAL else "pos"
        note = str(parameter.annotation)
        tensor = (
            "list"
            if "uple[" in note and "Tensor" in note
            else "one"
            if "Tensor" in note or parameter.name in ("input", "hx", "x", "inputs")
            else ""
        )
        params.append(Parameter(parameter.name, kind, tensor, parameter.default is parameter.empty and kind == "pos"))
    taken = {p.name for p in params}
    flags = [Parameter(n, "kw") for n in _constructor_names(cls) if n not in taken]
    return Signature((*params, *flags, Parameter("parameters", "kw", "list")))


def _flags(given: dict[str, Any]) -> dict[str, Any]:
    """Return the bool and str arguments of a module's constructor that may decide what a call of the module returns.

    Flags that only decide which parameters and buffers the module registers are left out.
    """
    return {n: v for n, v in given.items() if isinstance(v, (bool, str)) and n not in _FLAGS}


def _call_with_parameters(module: nn.Module, flags: set[str]) -> Any:
    """Return a function that calls a module with its parameters and buffers taken from an argument ``parameters``.

    The function ignores the keyword arguments named in ``flags``.
    """

    def call(*args: Any, parameters: list[torch.Tensor] | None = None, **kwargs: Any) -> Any:
        kwargs = {n: v for n, v in kwargs.items() if n not in flags}
        state = dict(zip(_state(module), parameters or (), strict=True))
        return torch.func.functional_call(module, state, args, kwargs)

    return call


def _state(module: nn.Module) -> dict[str, torch.Tensor]:
    """Return a module's floating-point parameters and buffers, by name, without those not initialized yet."""
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {name: t.detach() for name, t in tensors.items() if t.is_floating_point() and not is_lazy(t)}


def derive_row(name: str) -> tuple[Row, ProbedCallable | None]:
    """Derive the semantics-table row of one ``torch.nn`` module class from sample calls on the CPU.

    Returns the row and the probed callable: the class with those of its sample calls that run, None if none runs.
    """
    cls = module_classes()[name]
    if cls.__name__ in CONTAINERS:
        return {"special": "container", "provenance": {"*": "hand"}}, None
    become = getattr(cls, "cls_to_become", None)
    if become is not None:
        eager, studied = derive_row(f"torch.nn.{become.__name__}")
        return {**eager, "module": {**eager["module"], "init": _constructor_names(cls)}}, studied
    found = sample_instances(name)
    overload = forward_signature(cls)
    row: Row = {"params": [p.name for p in overload.params if p.kind != "kw"], "returns": "unknown"}
    row["tensors"] = [p.name + ("[]" if p.tensor == "list" else "") for p in overload.params if p.tensor][:-1]
    row["module"] = _module_cells(cls, found)
    studied = _probe_instances(overload, found)
    row["provenance"] = {"*": "inspect"} if studied is None else {"params": "inspect", "tensors": "inspect"}
    if studied is not None:
        holding = [s for s in found if list(s[0].parameters())] or [s for s in found if list(s[0].buffers())]
        row |= _call_cells(name, studied, _probe_instances(overload, holding) or studied)
    if row["module"]["parameters"] != "never":
        row["same"] = [n.removesuffix("[]") for n in row["tensors"]] + ["parameters"]
    return row, studied


def _probe_instances(overload: Signature, found: list[Sample]) -> ProbedCallable | None:
    """Make the sample calls of module instances on the CPU, and return a probed callable with those that run.

    Returns None if none of them runs.
    """
    attempts = []
    for module, given, call in found[:MAX_VARIED_CALLS]:
        state = [t.clone() for t in _state(module).values()]
        kwargs = {**call.kwargs, **_flags(given), **({"parameters": state} if state else {})}
        attempts.append((_call_with_parameters(module, set(_flags(given))), SampleCall(call.args, kwargs)))
    studied = probe_callable([overload], attempts)
    return studied if studied.probed_calls else None


def _call_cells(name: str, studied: ProbedCallable, holding: ProbedCallable) -> Row:
    """Return the semantics-table cells that describe calls of a module class's instances.

    The dtypes that calls refuse are found with the instances in ``holding``, which have parameters or buffers.
    """
    outcomes = studied.varied_results()
    cells: Row = return_cells.cells(studied, in_place=False)
    cells |= dtype_cells.cells(studied, outcomes) | rank_cells.cells(studied, outcomes)
    cells |= effect_cells.cells(studied) | dtype_limit_cells.cells(holding, loss=name.endswith(("Loss", "Loss2d")))
    cells["mutates"] = []
    cells.get("index_dtypes", {}).pop("parameters", None)
    return cells


def _constructor(cls: type[nn.Module]) -> Any:
    """Return the function whose signature declares the constructor's parameters of a module class.

    It is ``RNNBase.__init__`` for recurrent layers, else the class's own ``__init__``.
    """
    return nn.RNNBase.__init__ if issubclass(cls, nn.RNNBase) else cls.__init__


def _constructor_names(cls: type[nn.Module]) -> list[str]:
    """Return the names of the parameters of a module class's constructor, without ``self`` and variadic parameters."""
    parameters = inspect.signature(_constructor(cls)).parameters
    named = [n for n, p in parameters.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return [n for n in named if n != "self" and not (n == "mode" and issubclass(cls, nn.RNNBase))]


def _deep_layer(attribute: str) -> bool:
    """Return whether an attribute such as ``weight_ih_l1`` belongs to a second or later layer of a recurrent module."""
    return "_l" in attribute and not attribute.endswith("_l0")


def _module_cells(cls: type[nn.Module], found: list[Sample]) -> Row:
    """Return the semantics-table cell ``module`` of a module class.

    It tells the constructor's parameters, whether instances have parameters and buffers, and the roles of attributes.
    """
    parameters = inspect.signature(_constructor(cls)).parameters
    init = _constructor_names(cls)
    cells: Row = {"init": init, "parameters": "never", "buffers": "never"}
    if {"device", "dtype"} <= set(init):
        cells["factory_kwargs"] = True
    defaults = {n: parameters[n].default for n in _FLAGS if n in init}
    kinds: dict[str, set[str]] = {}
    for module, _, _ in found:
        for attribute, kind in _registered(module).items():
            kinds.setdefault(attribute, set()).add(kind)
    for role in ("parameter", "buffer"):
        cells[role + "s"] = _presence(role, [m for m, _, _ in found], init)
    attributes = {n: _role(k) for n, k in sorted(kinds.items()) if k != {"none"} and not _deep_layer(n)}
    if "bias" in init and attributes.get("bias") == "parameter":
        attributes["bias"] = "parameter-or-none"
    if attributes:
        cells["attributes"] = attributes
    if defaults:
        cells["defaults"] = defaults
    return cells


def _registered(module: nn.Module) -> dict[str, str]:
    """Return the role of each registered attribute of a module, by name: "parameter", "buffer", or "none" for None."""
    kinds = {n: "none" if p is None else "parameter" for n, p in module._parameters.items()}
    return kinds | {n: "none" if b is None else "buffer" for n, b in module._buffers.items()}


def _role(kinds: set[str]) -> str:
    """Return the role of a module's attribute, such as "buffer" or "parameter-or-none", over several instances.

    ``kinds`` holds the role in each instance.
    """
    return (kinds - {"none"}).pop() + ("-or-none" if "none" in kinds else "")


def _presence(role: str, built: list[nn.Module], init: list[str]) -> str:
    """Return when instances of a module class have parameters or buffers; ``role`` says which of the two.

    The result is "always", "never", "if:FLAG" (if that constructor flag is true), or "arg:NAME" (if that argument is
    given).
    """
    having = [bool(list(m.parameters() if role == "parameter" else m.buffers())) for m in built]
    if not any(having):
        for name in ("weight", "pos_weight"):
            if role == "buffer" and name in init:
                return f"arg:{name}"
        return "never"
    if all(having):
        flag = {"parameter": _FLAGS[:2], "buffer": _FLAGS[2:]}[role]
        chosen = [n for n in flag if n in init]
        return f"if:{chosen[0]}" if chosen else "always"
    flags = [n for n in (*_FLAGS, "weight", "pos_weight") if n in init and (n in _FLAGS[:2]) == (role == "parameter")]
    return ("arg:" if flags[0] in ("weight", "pos_weight") else "if:") + flags[0] if flags else "always"
