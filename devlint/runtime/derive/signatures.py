"""Signatures of public torch callables, read from torch's native_functions.yaml or found by inspection."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torchgen  # type: ignore[import-untyped]
from torch import overrides
from torchgen.gen import ParsedYaml, parse_native_yaml  # type: ignore[import-untyped]
from torchgen.model import Argument, DispatchKey, NativeFunction, SelfArgument, TensorOptionsArguments, Variant  # type: ignore[import-untyped]

_MODULE_PREFIX = {"torch.linalg.": "linalg_", "torch.fft.": "fft_", "torch.special.": "special_"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter in the signature of a torch callable.

    ``kind`` is "pos" (positional), "kw" (keyword-only) or "var" (variadic). ``tensor`` says whether the parameter takes
    no tensor (""), a tensor ("one") or a sequence of tensors ("list").
    """

    name: str
    kind: str = "pos"
    tensor: str = ""
    required: bool = False
    type: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """One overload of a torch callable: its parameters, and its declaration in native_functions.yaml if it has one."""

    params: tuple[Parameter, ...]
    native: NativeFunction | None = field(default=None, compare=False)

    def param(self, name: str) -> Parameter | None:
        """Return the parameter called ``name``, or None if this overload has no such parameter."""
        return next((p for p in self.params if p.name == name), None)

    def spelled(self) -> list[str]:
        """Return the parameter names in order, with "*" before keyword-only ones and "*name" for a variadic one."""
        names: list[str] = []
        for param in self.params:
            if param.kind == "var":
                names.append("*" + param.name)
            elif param.kind == "kw" and not any(name.startswith("*") for name in names):
                names += ["*", param.name]
            else:
                names.append(param.name)
        return names

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """Return a call's arguments by parameter name, or None if the call does not fit this overload."""
        bound: dict[str, Any] = {}
        rest = list(args)
        for param in self.params:
            if param.kind == "var":
                bound[param.name] = rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else tuple(rest)
                rest = []
            elif param.kind == "pos" and rest:
                bound[param.name] = rest.pop(0)
            elif param.name in kwargs:
                bound[param.name] = kwargs[param.name]
            elif param.required:
                return None
        if rest or any(name not in bound for name in kwargs):
            return None
        return bound if all(_fits(self.param(name), value) for name, value in bound.items()) else None


def _fits(param: Parameter | None, value: Any) -> bool:
    """Return whether an argument's value can be passed for a parameter, as far as the parameter's type tells."""
    if param is None or not param.type:
        return True
    if isinstance(value, torch.Tensor):
        return param.tensor == "one" or param.type == "Scalar"
    if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        return param.tensor == "list"
    if isinstance(value, (bool, int, float, complex)):
        return (param.tensor != "list" and param.type != "Tensor") or param.name == "other"
    return True


@cache
def _parsed() -> ParsedYaml:
    """Return the parsed native_functions.yaml of the installed torch, the file that declares torch's operators."""
    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    return parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))


def has_cuda_kernel(native: NativeFunction) -> bool:
    """Return whether an operator of native_functions.yaml has a CUDA kernel.

    The generated wrapper of a CUDA kernel checks the devices of operands.
    """
    index = _parsed().backend_indices[DispatchKey.CUDA]
    return native.structured or native.structured_delegate is not None or index.has_kernel(native)


@cache
def native_functions() -> dict[str, list[NativeFunction]]:
    """Return the operators that torch's native_functions.yaml declares, by base name such as "add".

    Overloads with an ``out`` argument or with named dimensions are left out.
    """
    table: dict[str, list[NativeFunction]] = {}
    for native in _parsed().native_functions:
        if native.func.arguments.out or "Dimname" in str(native.func):
            continue
        table.setdefault(str(native.func.name.name), []).append(native)
    return table


def _native_param(argument: Argument, kind: str, name: str) -> Parameter:
    """Return the signature parameter for one argument that native_functions.yaml declares."""
    spelled = str(argument.type)
    tensor = "" if "Tensor" not in spelled else "list" if "[" in spelled else "one"
    return Parameter(name, kind, tensor, argument.default is None, spelled)


def _from_native(native: NativeFunction, method: bool) -> Signature:
    """Return the signature of a native function of torch, in its form as a tensor method or as a function.

    A native function is an operator that native_functions.yaml declares.
    """
    params: list[Parameter] = []
    for argument in native.func.arguments.positional:
        if isinstance(argument, SelfArgument):
            argument = argument.argument
        name = "input" if argument.name == "self" and not method else argument.name
        params.append(_native_param(argument, "pos", name))
    if method:
        params.sort(key=lambda p: p.name != "self")
    sized = params[1:] if method else params
    if len(sized) == 1 and re.fullmatch(r"(SymInt|int)\[\]", sized[0].type):
        params[-1] = Parameter(sized[0].name, "var", type=sized[0].type)
    for extra in native.func.arguments.kwarg_only:
        if isinstance(extra, TensorOptionsArguments):
            params += [Parameter(name, "kw") for name in ("dtype", "layout", "device", "pin_memory", "requires_grad")]
        else:
            params.append(_native_param(extra, "kw", extra.name))
    return Signature(tuple(params), native)


def _native_for(name: str) -> tuple[list[NativeFunction], bool]:
    """Return the native functions that implement a public torch name, and whether the name is a tensor method.

    A native function is an operator that native_functions.yaml declares.
    """
    for prefix, native_prefix in _MODULE_PREFIX.items():
        if name.startswith(prefix):
            return native_functions().get(native_prefix + name.removeprefix(prefix), []), False
    base = name.rsplit(".", 1)[1]
    found = native_functions().get(base, [])
    if name.startswith("torch.Tensor."):
        return [f for f in found if Variant.method in f.variants], True
    if name.startswith("torch.nn.functional."):
        return [f for f in found if f.python_module == "nn" or Variant.function in f.variants], False
    return [f for f in found if Variant.function in f.variants and f.python_module is None], False


_TENSOR_NAMES = frozenset(
    "input other self tensor tensors weight bias target mat1 mat2 vec index source src values grad_output running_mean"
    " running_var mask hx cx data x y query key value anchor positive negative input1 input2 x1 x2".split()
)
"""Names of parameters without annotation that are taken to be tensors."""


_KINDS = {"KEYWORD_ONLY": "kw", "VAR_POSITIONAL": "var"}
_UNANNOTATED = str(inspect.Parameter.empty)


def _inspected(signature: inspect.Signature, guess: bool) -> Signature:
    """Return devlint's form of a signature that Python's ``inspect`` found.

    With ``guess``, parameters without annotation are taken to be tensors if they have a usual name such as "input".
    """
    params = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        kind = _KINDS.get(parameter.kind.name, "pos")
        note = parameter.annotation if isinstance(parameter.annotation, str) else str(parameter.annotation)
        tensor = ""
        if "Tensor" in note:
            tensor = "list" if re.search(r"(list|List|tuple|Tuple|Sequence)\[", note) else "one"
        elif kind == "var" and parameter.name == "tensors":
            tensor = "list"
        elif parameter.name == "self" or (guess and note == _UNANNOTATED and parameter.name in _TENSOR_NAMES):
            tensor = "list" if parameter.name == "tensors" else "one"
        required = parameter.default is parameter.empty and kind != "var"
        params.append(Parameter(parameter.name, kind, tensor, required))
    return Signature(tuple(params))


@cache
def _testing_overrides() -> dict[Any, Callable[..., Any]]:
    """Return torch's own mapping from each overridable function to a lambda of the same signature."""
    return overrides.get_testing_overrides()


def signatures(name: str, function: Any) -> list[Signature]:
    """Return the overloads of a public torch callable, the empty list if its parameters are unknown.

    They are found by inspection of the Python function, else in native_functions.yaml, else in ``torch.overrides``.
    """
    native, method = _native_for(name)
    generic = False
    try:
        inspected = _inspected(inspect.signature(function), guess=True)
        generic = [p.name for p in inspected.params] in ([], ["args"])
    except (ValueError, TypeError):
        generic = True
    if not generic:
        return [inspected]
    twin = getattr(torch.nn.functional, name.rsplit(".", 1)[1] + "_with_indices", None)
    if twin is not None and name.startswith("torch.nn.functional."):
        return [_inspected(inspect.signature(twin), guess=True)]
    if native:
        return _distinct(_from_native(f, method) for f in native)
    override = _testing_overrides().get(function)
    return [_inspected(inspect.signature(override), guess=True)] if override is not None else []


def _distinct(found: Iterable[Signature]) -> list[Signature]:
    """Return signatures without repetitions, those with most keyword-only parameters first.

    Overloads with more keyword-only parameters are the ones that torch has not deprecated.
    """
    return sorted(dict.fromkeys(found), key=lambda s: sum(p.kind == "kw" for p in s.params), reverse=True)


def without_number_overloads(overloads: list[Signature]) -> list[Signature]:
    """Return the overloads without those that take a Python number where another overload takes a tensor."""
    return [s for s in overloads if not any(_covers(t, s) for t in overloads if t is not s)]


def _covers(general: Signature, special: Signature) -> bool:
    """Return whether the overload ``general`` takes tensors wherever ``special`` does, and for further parameters too.

    Both must have parameters of the same names.
    """
    tensors = [{p.name for p in s.params if p.tensor} for s in (general, special)]
    return {p.name for p in general.params} == {p.name for p in special.params} and tensors[0] > tensors[1]


def signature_from_names(params: list[str], tensors: list[str]) -> Signature:
    """Return the signature that lists of names describe, as in devlint's handwritten semantics-table rows.

    ``params`` are all parameters in order, with "*" before keyword-only ones. ``tensors`` are those that take tensors,
    with "[]" added where a sequence is taken.
    """
    kinds = {n.removesuffix("[]"): "list" if n.endswith("[]") else "one" for n in tensors}
    made, keyword_only = [], False
    for spelled in params:
        name = spelled.lstrip("*")
        if name:
            kind = "kw" if keyword_only else "var" if spelled.startswith("*") else "pos"
            made.append(Parameter(name, kind, kinds.get(name, "")))
        keyword_only = keyword_only or spelled.startswith("*")
    return Signature(tuple(made))
