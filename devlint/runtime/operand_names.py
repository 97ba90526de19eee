"""The names by which the code that called a failed operator knows its operands, such as `kernel` or `self.table`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

import torch
from torch import nn

from devlint.runtime.call_sites import is_library
from devlint.runtime.storage_labels import label_of

_MOST_ELEMENTS = 16
"""The number of elements of a list or dict that are looked at."""
Named = tuple[str, torch.Tensor]


def operand_names(tensors: Iterable[torch.Tensor], frame: FrameType | None) -> list[str]:
    """Return what a story calls each operand of an operator that was called below a frame; empty if that is not known.

    What the innermost frame of the user's code calls it comes first, then what a module of the library calls it that
    the user's code has called. An operand without a name of its own has that of the only tensor with the same memory.
    """
    inside: list[FrameType] = []
    while frame is not None and is_library(frame.f_code.co_filename):
        inside.append(frame)
        frame = frame.f_back
    known = list(_named_in_user_code(frame)) if frame is not None else []
    inner = [named for one in inside for named in _named_in_module(one)]
    return [_name(tensor, known) or _name(tensor, inner) for tensor in tensors]


def _name(tensor: torch.Tensor, known: list[Named]) -> str:
    """Return the name of a tensor among some with names; empty if it has none, or if views of it have several."""
    same = next((name for name, other in known if other is tensor), None)
    if same is not None:
        return same
    label = label_of(tensor)
    views = {id(other): name for name, other in reversed(known) if label is not None and label_of(other) is label}
    return next(iter(views.values())) if len(views) == 1 else ""


def _named_in_user_code(frame: FrameType) -> Iterator[Named]:
    """Yield the tensors that the variables of a frame hold, as `name`, and then those in containers and objects."""
    code = frame.f_code
    own = {name: value for name, value in frame.f_locals.items() if name.isidentifier()}
    shared = {name: frame.f_globals[name] for name in code.co_names if name in frame.f_globals}
    variables = {**shared, **{name: value for name, value in own.items() if code.co_name != "<module>"}}
    yield from ((f"`{name}`", value) for name, value in variables.items() if isinstance(value, torch.Tensor))
    for name, value in variables.items():
        yield from ((f"`{name}{path}`", tensor) for path, tensor in _reached_from(value))


def _named_in_module(frame: FrameType) -> Iterator[Named]:
    """Yield the tensors that a frame of a library holds, if it runs a method of a module: "`input` of `Conv1d`"."""
    module = frame.f_locals.get("self")
    if isinstance(module, nn.Module):
        whose = type(module).__name__
        held = [*frame.f_locals.items(), *_attributes(module)]
        yield from ((f"`{name}` of `{whose}`", value) for name, value in held if isinstance(value, torch.Tensor))


def _reached_from(value: Any) -> Iterator[Named]:
    """Yield the tensors in a container, an object or a module, each with the path that leads there."""
    if type(value) is dict:
        for key, item in islice(value.items(), _MOST_ELEMENTS):
            if isinstance(item, torch.Tensor) and isinstance(key, str | int):
                yield f"[{json.dumps(key)}]", item
    elif type(value) in (list, tuple):
        for index, item in enumerate(value[:_MOST_ELEMENTS]):
            if isinstance(item, torch.Tensor):
                yield f"[{index}]", item
    elif isinstance(value, nn.Module):
        for path, module in nn.Module.named_modules(value):
            start = "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in path.split(".") if part)
            yield from ((f"{start}.{name}", tensor) for name, tensor in _attributes(module))
    elif not isinstance(value, type | ModuleType | torch.Tensor):
        yield from ((f".{name}", tensor) for name, tensor in _attributes(value))


def _attributes(holder: Any) -> Iterator[Named]:
    """Yield the tensors that an object holds as attributes: also the parameters and the buffers of a module."""
    own: dict[str, Any] = getattr(holder, "__dict__", {})
    for held in (own, own.get("_parameters"), own.get("_buffers")):
        if isinstance(held, dict):
            yield from ((name, value) for name, value in list(held.items()) if isinstance(value, torch.Tensor))
