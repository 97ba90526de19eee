"""Changes of a driver's arguments that an error suggests: other shapes, dtypes, numbers, attributes.

torch's messages name the sizes that do not fit; the first changes are those that make them fit. What follows are
changes that often help where a message says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from devlint.confirm.arguments import (
    CALLING,
    DICT,
    LIST,
    MAKING,
    NAMESPACE,
    Arguments,
    Path,
    PlainText,
    TensorText,
    Value,
    changed,
    integers_of,
    tensors_of,
)
from devlint.confirm.driver_process import Failure
from devlint.confirm.guesses import IDENTITY, SHAPES, WIDTH

V = TypeVar("V")
Guess = Callable[[str], Value]
"""Guesses an attribute of a namespace by its name."""
_RANKS = (
    (r"expected (\d)D(?: or (\d)D)?(?: \(\w+\) or (\d)D)?", 0),
    (r"Expected (\d)D \(unbatched\) or (\d)D \(batched\)", 0),
    (r"Expected (\d)D", 0),
    (r"not enough values to unpack \(expected (\d), got \d\)", 0),
    (r"too many values to unpack \(expected (\d)\b", 0),
    (r"Dimension out of range \(expected to be in range of \[-(\d), \d\]", 1),
    (r"too many indices for tensor of dimension (\d)", 1),
    (r"input must have (\d) dimensions", 0),
    (r"permute.*input\.dim\(\) = \d is not equal to len\(dims\) = (\d)", 0),
    (r"batch1 must be a (\d)D|must be (?:a )?(\d)-?D", 0),
    (r"expected a matrix|must be a matrix", 0),
)
"""Messages about numbers of dimensions: the number is in the group, plus what stands beside the pattern."""
_PAIRS = (
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
    r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)",
    r"to have (\d+) channels, but got (\d+) channels",
    r"Expected size (\d+) but got size (\d+)",
    r"normalized_shape=\[(\d+)\], expected input with shape \[\*, \d+\], but got input of size\s*\[[\d, ]*?(\d+)\]",
    r"running_mean should contain (\d+) elements not (\d+)",
    r"expected hidden size \(\d+, \d+, (\d+)\), got \[\d+, \d+, (\d+)\]",
    r"input\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)",
    r"was expecting embedding dimension of (\d+), but got (\d+)",
    r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
    r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
    r"size equal to the number of channels in input, but got weight of shape \[(\d+)\] and input of shape \[\d+, (\d+)",
    r"size mismatch, got input \(\d+\), mat \(\d+x(\d+)\), vec \((\d+)\)",
    r"(\d+) (?:channels|features|dimensions?).*? but (?:got )?(\d+)",
    r"\bbe (\d+),? but \D{0,6}(\d+)",
    r"index (\d+) is out of bounds for dimension \d+ with size (\d+)",
    r"einsum\(\).* size (\d+).* size (\d+)",
    r"shape \[\d+, (\d+)\].*shape \[\d+, (\d+)\]",
)
"""Messages that name two sizes which should be one."""
_SIZES = (4, 8, 16, 32, 64)


def repairs(arguments: Arguments, error: Failure, near: frozenset[str], guess: Guess) -> Iterator[Arguments]:
    """Yield changed arguments, those that are most likely to help first.

    `near` are the names in the line of the called function that failed.
    """
    message = error.message
    yield from _missing_attributes(arguments, message, guess)
    yield from _sizes(arguments, message)
    yield from _ranks(arguments, message, near)
    yield from _kinds(arguments, message, near)
    yield from _values(arguments, error, near)
    yield from _other_shapes(arguments, near)


def _missing_attributes(arguments: Arguments, message: str, guess: Guess) -> Iterator[Arguments]:
    """Yield the arguments with what a namespace or a dict was asked for and lacks."""
    found = re.search(r"'types\.SimpleNamespace' object has no attribute '(\w+)'", message)
    for path, value in arguments.items():
        if found is not None and value == NAMESPACE:
            yield changed(arguments, (*path, found[1]), guess(found[1]))
    key = re.fullmatch(r"'(\w+)'", message)
    for path, value in arguments.items():
        if key is not None and value == DICT:
            yield changed(arguments, (*path, key[1]), guess(key[1]))
            yield changed(arguments, (*path, key[1]), TensorText("float", SHAPES[3]))
    gone = re.search(r"'(\w+)' object has no attribute '(\w+)'", message)
    if gone is not None and gone[1] in ("str", "int", "NoneType", "list"):
        for path, value in arguments.items():
            if isinstance(value, PlainText) and (path[0] == MAKING or gone[1] != "list"):
                yield {**changed(arguments, path, NAMESPACE), (*path, gone[2]): guess(gone[2])}


def _sizes(arguments: Arguments, message: str) -> Iterator[Arguments]:
    """Yield the arguments with one of two sizes that do not fit made the other, in a tensor or a number."""
    for pattern in _PAIRS:
        found = re.search(pattern, message, re.DOTALL)
        if found is None:
            continue
        left, right = int(found[1]), int(found[2])
        for old, new in ((right, left), (left, right)):
            yield from _resized(arguments, old, new)
        for path, number in integers_of(arguments).items():
            if number in (left, right):
                yield changed(arguments, path, PlainText(str(right if number == left else left)))


def _resized(arguments: Arguments, old: int, new: int) -> Iterator[Arguments]:
    """Yield the arguments with a size of tensors changed: in all tensors at once, and in one dimension of one."""
    tensors = {path: one for path, one in tensors_of(arguments).items() if old in one.shape}
    last = {path: TensorText(one.kind, (*one.shape[:-1], new)) for path, one in tensors.items() if one.shape[-1] == old}
    if len(last) > 1:
        yield {**arguments, **last}
    for path, one in tensors.items():
        for index in reversed(range(len(one.shape))):
            if one.shape[index] == old:
                shape = (*one.shape[:index], new, *one.shape[index + 1 :])
                yield changed(arguments, path, TensorText(one.kind, shape))


def _ranks(arguments: Arguments, message: str, near: frozenset[str]) -> Iterator[Arguments]:
    """Yield the arguments with a tensor of the number of dimensions that a message asks for."""
    for pattern, more in _RANKS:
        found = re.search(pattern, message)
        if found is None:
            continue
        wanted = dict.fromkeys(int(one) + more for one in found.groups() if one) or {2: None}
        for rank in wanted:
            for path, one in _nearest(tensors_of(arguments), near):
                if len(one.shape) != rank and rank in SHAPES:
                    yield changed(arguments, path, TensorText(one.kind, _shape_like(one.shape, rank)))


def _shape_like(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return a shape of some number of dimensions, with the last size of another shape where that was changed."""
    plain = SHAPES[rank]
    changed_last = bool(shape) and shape != SHAPES.get(len(shape))
    return (*plain[:-1], shape[-1]) if changed_last and plain else plain


def _kinds(arguments: Arguments, message: str, near: frozenset[str]) -> Iterator[Arguments]:
    """Yield the arguments with a tensor of the kind of numbers that a message asks for."""
    kinds = (
        (r"Long|Int\b|indices|index|not implemented for 'Float'|integral|must be integers?|IntTensor|int64", "long"),
        (r"[Bb]ool(?!(ean)? value)|logical|bitwise", "bool"),
        (r"[Cc]omplex", "complex"),
        (r"[Ff]loat|Byte|not implemented for '(Long|Int|Bool)'|floating|requires_grad|require gradients", "float"),
    )
    for pattern, kind in kinds:
        if re.search(pattern, message):
            for path, one in _nearest(tensors_of(arguments), near):
                if one.kind != kind:
                    yield changed(arguments, path, TensorText(kind, one.shape))


def _values(arguments: Arguments, error: Failure, near: frozenset[str]) -> Iterator[Arguments]:
    """Yield the arguments with other values of what is no tensor, or with one in place of a tensor and the reverse."""
    message = error.message
    if re.search(r"Kernel size|Output size|output size|too small|padded input|Padding size", message):
        for factor in (2, 4):
            yield {
                path: TensorText(one.kind, (*one.shape[:2], *(size * factor for size in one.shape[2:])))
                if isinstance(one, TensorText)
                else one
                for path, one in arguments.items()
            }
    yield from _named_texts(arguments, message, near)
    for path, number in _nearest(integers_of(arguments), near):
        if error.type in ("AssertionError", "ValueError", "ZeroDivisionError", "RuntimeError", "IndexError"):
            yield from (changed(arguments, path, PlainText(str(size))) for size in (*_SIZES, 1, 2) if size != number)
    wants_list = re.search(
        r"not iterable|not subscriptable|has no len\(\)|object is not callable|can only concatenate (list|tuple)"
        r"|unsupported operand type\(s\) for \+: '(int|float|str)' and '(list|tuple)'"
        r"|unsupported operand type\(s\) for \+: '(list|tuple)' and '(int|float|str)'",
        message,
    )
    callable_wanted = "not callable" in message
    for path, value in _nearest(dict(arguments), near):
        if isinstance(value, PlainText) and callable_wanted:
            yield changed(arguments, path, IDENTITY)
            yield changed(arguments, path, PlainText("nn.ReLU", ("from torch import nn",)))
        elif isinstance(value, PlainText) and wants_list:
            listed = changed(arguments, path, LIST)
            yield {**listed, (*path, 0): value, (*path, 1): value}
        elif isinstance(value, PlainText) and path[0] == CALLING:
            yield changed(arguments, path, TensorText("float", SHAPES[3]))
        elif isinstance(value, TensorText) and re.search(
            r"integer|'Tensor' object|an? int\b|\bints\b|bool value|Boolean value", message
        ):
            yield changed(arguments, path, PlainText("4"))
            yield {**changed(arguments, path, LIST), (*path, 0): value, (*path, 1): value}
            yield changed(arguments, path, IDENTITY)
            yield changed(arguments, path, PlainText("None"))


def _named_texts(arguments: Arguments, message: str, near: frozenset[str]) -> Iterator[Arguments]:
    """Yield the arguments with a text that a message quotes, as in `mode must be 'sum' or 'mean'`."""
    if not re.search(r"\bbe\b|one of|expected|supported|choose|choice|available|valid|allowed|options", message, re.I):
        return
    quoted = dict.fromkeys(repr(one) for one in re.findall(r"['\"`]([A-Za-z][\w.-]*)['\"`]", message))
    spoken = near | set(re.findall(r"[^\W\d]\w*", message))
    for path, value in _nearest(dict(arguments), near):
        if isinstance(value, PlainText) and value.text != "device" and str(path[-1]) in spoken:
            yield from (changed(arguments, path, PlainText(text)) for text in quoted if text != value.text)


def _other_shapes(arguments: Arguments, near: frozenset[str]) -> Iterator[Arguments]:
    """Yield the arguments with each tensor of another number of dimensions, of another kind, or with equal sides."""
    tensors = _nearest(tensors_of(arguments), near)
    for rank in (2, 3, 4, 1) if len(tensors) > 1 else ():
        same = {path: TensorText(one.kind, SHAPES[rank]) for path, one in tensors}
        yield {**arguments, **same}
        if rank > 1:
            for path, one in tensors:
                yield {**arguments, **same, path: TensorText(one.kind, SHAPES[rank][: rank - 1])}
    for rank in (3, 4, 2, 1, 5, 0):
        for path, one in tensors:
            if len(one.shape) != rank:
                yield changed(arguments, path, TensorText(one.kind, SHAPES[rank]))
    for path, one in tensors:
        yield changed(arguments, path, TensorText("float" if one.kind != "float" else "long", one.shape))
        for size in (WIDTH, 3, 4, 32):
            if one.shape and one.shape[-1] != size:
                yield changed(arguments, path, TensorText(one.kind, (*one.shape[:-1], size)))
            if len(one.shape) > 2 and one.shape[0] != size:
                yield changed(arguments, path, TensorText(one.kind, (size, *one.shape[1:])))
            if len(one.shape) > 1 and one.shape[1] != size:
                yield changed(arguments, path, TensorText(one.kind, (one.shape[0], size, *one.shape[2:])))


def _nearest(values: Mapping[Path, V], near: frozenset[str]) -> list[tuple[Path, V]]:
    """Return values with their paths, those of the named parameters first."""
    return sorted(values.items(), key=lambda item: str(item[0][1]) not in near)
