"""The arguments of a driver: what is passed to a constructor and to a call, as a flat table that is easy to change.

A path leads to each value: the call that it belongs to (`MAKING` or `CALLING`), the parameter, and below that the
attribute or the index in a group of values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MAKING = "making"
"""The first part of the path of what is passed to the constructor."""
CALLING = "calling"
"""The first part of the path of what is passed to the function, method or module."""

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class TensorText:
    """A tensor that a driver makes: its kind of numbers (float, long, bool, complex) and its shape."""

    kind: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlainText:
    """Any other value, as a Python expression. `imports` are the import statements that it needs."""

    text: str
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Several values in one: a namespace, list, tuple or dict, or what `maker` returns for them.

    The values are at longer paths of the same table.
    """

    maker: str
    imports: tuple[str, ...] = ()


Value = TensorText | PlainText | Group
Arguments = Mapping[Path, Value]
"""All arguments of a driver."""
NAMESPACE = Group("SimpleNamespace", ("from types import SimpleNamespace",))
LIST, TUPLE, DICT = Group("[]"), Group("()"), Group("{}")


def call_text(arguments: Arguments, call: str) -> str:
    """Return the arguments of one call as Python text, each by its name."""
    names = dict.fromkeys(path[1] for path in arguments if path[0] == call)
    return ", ".join(f"{name}={value_text(arguments, (call, name))}" for name in names)


def value_text(arguments: Arguments, path: Path) -> str:
    """Return the value at a path as a Python expression."""
    value = arguments[path]
    if isinstance(value, PlainText):
        return value.text
    if isinstance(value, TensorText):
        return tensor_text(value)
    below = {one[-1]: value_text(arguments, one) for one in arguments if one[:-1] == path}
    if value.maker == "[]":
        return f"[{', '.join(below.values())}]"
    if value.maker == "()":
        return f"({', '.join(below.values())}{',' if len(below) == 1 else ''})"
    if value.maker == "{}":
        return "{" + ", ".join(f"{key!r}: {text}" for key, text in below.items()) + "}"
    return f"{value.maker}({', '.join(f'{key}={text}' for key, text in below.items())})"


def tensor_text(tensor: TensorText) -> str:
    """Return the expression that makes a tensor on the driver's device."""
    shape = ", ".join(map(str, tensor.shape))
    if tensor.kind == "bool":
        return f"torch.ones({shape or '()'}, dtype=torch.bool, device=device)"
    if tensor.kind == "long":
        size = f"({shape}{',' if len(tensor.shape) == 1 else ''})"
        return f"torch.randint(0, 2, {size}, device=device)"
    if tensor.kind == "complex":
        return f"torch.randn({shape or '()'}, dtype=torch.complex64, device=device)"
    return f"torch.rand({shape or '()'}, device=device)"


def imports_of(arguments: Arguments) -> list[str]:
    """Return the import statements that the values need, each once."""
    found = [one for value in arguments.values() if not isinstance(value, TensorText) for one in value.imports]
    return list(dict.fromkeys(found))


def changed(arguments: Arguments, path: Path, value: Value | None) -> dict[Path, Value]:
    """Return the arguments with one value replaced, and what was below it dropped; None leaves the argument out."""
    kept = {one: old for one, old in arguments.items() if one[: len(path)] != path or (one == path and value)}
    if value is not None:
        kept[path] = value
    return kept


def tensors_of(arguments: Arguments) -> dict[Path, TensorText]:
    """Return the tensors among the arguments."""
    return {path: value for path, value in arguments.items() if isinstance(value, TensorText)}


def integers_of(arguments: Arguments) -> dict[Path, int]:
    """Return the integers among the arguments."""
    plain = {path: value.text for path, value in arguments.items() if isinstance(value, PlainText)}
    return {path: int(text) for path, text in plain.items() if text.isdecimal()}
