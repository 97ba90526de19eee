"""Public names of torch: the function, method or property behind each name, and the canonical name of each object.

An object with several public names has one canonical name, under which devlint's semantics table describes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache, reduce
from typing import Any

import torch
import torch.masked
import torch.nn.utils.rnn
import torch.signal.windows
from torch import overrides

OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
"""Binary operators with reflected and in-place methods, without underscores."""
COMPARISONS = "eq ne lt le gt ge".split()
"""Comparison methods, without underscores."""
UNARY = "neg pos abs invert".split()
"""Unary operator methods, without underscores."""
CONVERSIONS = "bool float int index complex len contains format repr array hash iter reversed".split()
"""Other special methods of tensors, without underscores."""

_NAMESPACES = (
    ("torch.nn.functional", torch.nn.functional),
    ("torch.linalg", torch.linalg),
    ("torch.fft", torch.fft),
    ("torch.special", torch.special),
    ("torch.nn.init", torch.nn.init),
    ("torch", torch),
    ("torch.functional", torch.functional),
    ("torch.masked", torch.masked),
    ("torch.signal.windows", torch.signal.windows),
)
"""Namespaces of public functions; the first one that holds a function gives the canonical name."""
_BEYOND_OVERRIDES = frozenset({"torch.nn.init", "torch.masked", "torch.signal.windows"})
"""Namespaces with public functions that ``torch.overrides`` does not list."""
_EXTRA = {
    f"torch.nn.utils.rnn.{n}": getattr(torch.nn.utils.rnn, n)
    for n in ("pack_padded_sequence", "pad_packed_sequence", "pad_sequence", "pack_sequence", "unpad_sequence")
} | {
    f"torch.nn.utils.{n}": getattr(torch.nn.utils, n)
    for n in ("clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters")
}
"""Public functions outside of these namespaces."""
_NOT_TENSOR_API = frozenset(
    "torch.compile torch.vmap torch.cond torch.while_loop torch.import_ir_module torch.import_ir_module_from_buffer"
    " torch.parse_ir torch.parse_schema torch.typename torch.device torch.classproperty".split()
)
"""Public functions that have nothing to do with tensors."""


def _is_function(value: Any) -> bool:
    """Return whether a value is a Python or built-in function or method, and not a class."""
    return inspect.isroutine(value) and not inspect.isclass(value)


def _public_functions(prefix: str, namespace: Any) -> Iterator[tuple[str, Any]]:
    """Yield the qualified name and the object of every public function in a namespace such as ``torch.linalg``."""
    known = overrides.get_testing_overrides().keys() | overrides.get_ignored_functions()
    for name in sorted(dir(namespace)):
        value = getattr(namespace, name, None)
        if name.startswith("_") or not _is_function(value):
            continue
        home = getattr(value, "__module__", None) or ""
        in_place = name.endswith("_") and inspect.isbuiltin(value)
        if value in known or in_place or (prefix in _BEYOND_OVERRIDES and home.startswith(prefix)):
            yield f"{prefix}.{name}", value


@cache
def functions() -> dict[str, Any]:
    """Return every public torch function that has to do with tensors, by canonical name. Methods are not included."""
    return {name: value for name, value in _all_functions() if name not in _NOT_TENSOR_API and name not in aliases()}


def current_object(name: str) -> Any:
    """Return the object to which a qualified torch name refers at present.

    While devlint emulates an accelerator, some names refer to replacements by devlint.
    """
    return reduce(getattr, name.split(".")[1:], torch)


@cache
def _all_functions() -> list[tuple[str, Any]]:
    """Return all public torch functions as pairs of name and function; one with several names occurs under each."""
    found = [pair for prefix, namespace in _NAMESPACES for pair in _public_functions(prefix, namespace)]
    return found + sorted(_EXTRA.items())


@cache
def aliases() -> dict[str, str]:
    """Return the canonical name of each torch function that has several public names, by its other names."""
    first: dict[int, str] = {}
    other: dict[str, str] = {}
    for name, value in _all_functions():
        canonical = first.setdefault(id(value), name)
        if canonical.startswith("torch.functional.") and not name.startswith("torch.functional."):
            other[canonical], first[id(value)] = name, name
        elif canonical != name:
            other[name] = canonical
    return other


@cache
def methods() -> dict[str, Any]:
    """Return the methods, operators and properties of tensors, by qualified name such as ``torch.Tensor.add``."""
    found: dict[str, Any] = {}
    dunders = [f"__{n}__" for n in (*OPERATORS, *COMPARISONS, *UNARY, *CONVERSIONS)]
    dunders += [f"__{side}{n}__" for n in OPERATORS for side in "ir"]
    overridable = _overridable_methods()
    for name in sorted({*dir(torch.Tensor)} - {*dir(object)} | {*dunders} | overridable):
        value = getattr(torch.Tensor, name, None)
        hidden = name.startswith("_") and name not in dunders and name not in overridable
        if value is None or hidden or inspect.isclass(value):
            continue
        if inspect.isroutine(value) or inspect.isgetsetdescriptor(value) or isinstance(value, property):
            found[f"torch.Tensor.{name}"] = value
    return found


def _overridable_methods() -> set[str]:
    """Return the names of the ``torch.Tensor`` methods and properties that ``torch.overrides`` lists as overridable."""
    named = [overrides.resolve_name(f) or "" for f in overrides.get_testing_overrides()]
    return {n.split(".")[2] for n in named if n.startswith("torch.Tensor.")}


def is_property(value: Any) -> bool:
    """Return whether a class attribute of ``torch.Tensor`` is a property and not a method."""
    return inspect.isgetsetdescriptor(value) or isinstance(value, property)
