"""The answers to `reveal_placement(expr)`: short texts for values, for modules and for what containers hold."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from devlint.domain.placement import is_unknown_placement
from devlint.domain.value import Tensor, Value
from devlint.explain.value_descriptions import describe_dtype, describe_placement, describe_value
from devlint.interpreter.state.events import ContainerParts, ModuleTensors

_BRACKETS: Final = {"list": ("[", "]"), "tuple": ("(", ")"), "dict": ("{", "}")}
"""What stands around the parts of a container, by its kind; other kinds are named."""


def revealed_text(value: Value, contents: ModuleTensors | ContainerParts | None) -> str:
    """Return the text for a value and what it holds.

    Examples are `cuda float32`, `module, parameters on cuda float32` and `{'x': cpu float32, 'y': cpu int64}`.
    """
    match contents:
        case ModuleTensors(parameters=parameters, buffers=buffers):
            on, besides = _places(parameters), _places(buffers, with_dtype=False)
            words = [f"parameters on {on}"] if on else []
            if besides and besides != _places(parameters, with_dtype=False):
                words.append(f"buffers on {besides}")
            return ", ".join(["module", *words])
        case ContainerParts(kind=kind, parts=parts, is_whole=is_whole):
            left, right = _BRACKETS.get(kind, (f"{kind}[", "]"))
            texts = [_key_text(key, kind) + revealed_text(one, inner) for key, one, inner in parts]
            if not is_whole and not any(key is ... for key, _, _ in parts):
                texts.append("...")
            return f"{left}{', '.join(texts)}{right}"
    return describe_value(value)


def _key_text(key: Hashable, kind: str) -> str:
    """Return what stands before a part of a container: the key of a dict; `...` before what stands for all others."""
    if key is ...:
        return "...: "
    if kind != "dict":
        return ""
    return f"{key!r}: " if isinstance(key, (str, int, float, bool, bytes, type(None))) else "...: "


def _places(tensors: Iterable[Tensor], *, with_dtype: bool = True) -> str:
    """Return the devices of tensors, each with the dtype there unless it is unknown; empty for no tensors."""
    found = {f"{_place(one)} {describe_dtype(one.dtype) if with_dtype else ''}".rstrip(): None for one in tensors}
    return " and ".join(found)


def _place(tensor: Tensor) -> str:
    """Return the device of a tensor as text."""
    return "an unknown device" if is_unknown_placement(tensor.placement) else describe_placement(tensor.placement)
