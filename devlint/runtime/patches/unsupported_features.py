"""Patches that make torch features raise an error if the emulated devices do not support them.

`torch.compile` raises no error: it returns its argument, which then runs eagerly.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import HOST, placement_of

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Make torch features that emulated devices do not support raise NotEmulated, and `torch.compile` do nothing.

    These features are, for tensors on an emulated device, wrapper subclasses, tracing with fake tensors and jagged
    nested tensors.
    """

    wrapper: Any = torch.Tensor._make_wrapper_subclass

    def wrap(cls: type, *args: Any, **kwargs: Any) -> Any:
        devices = [value for value in (*args, *kwargs.values()) if isinstance(value, type(HOST))]
        if any(map(session.emulates, devices)):
            raise NotEmulated(
                f"{cls.__name__} on an accelerator"
            )  # autograd aborts on such a tensor where there is no CUDA
        return wrapper(cls, *args, **kwargs)

    patcher.replace(torch.Tensor, "_make_wrapper_subclass", staticmethod(wrap))

    fake: Any = FakeTensor.__new__

    def new_fake(cls: type, *args: Any, **kwargs: Any) -> Any:
        devices = [value for value in (*args, *kwargs.values()) if isinstance(value, type(HOST) | str)]
        if any(session.emulates(torch.device(value)) for value in devices):
            # autograd aborts on such a tensor where there is no CUDA
            raise NotEmulated("tracing with fake tensors on an accelerator, as torch.export does")
        return fake(cls, *args, **kwargs)

    patcher.replace(FakeTensor, "__new__", staticmethod(new_fake))

    export: Any = torch.export.export

    @functools.wraps(export)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("strict"):
            raise NotEmulated("torch.export.export(strict=True), which cannot trace torch as devlint has changed it")
        return export(*args, **kwargs)

    patcher.replace(torch.export, "export", traced)

    from_jagged = torch.nested.nested_tensor_from_jagged

    def jagged(values: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if placement_of(values).key:
            raise NotEmulated("nested tensors of the jagged layout on an accelerator")
        return from_jagged(values, *args, **kwargs)

    patcher.replace(torch.nested, "nested_tensor_from_jagged", jagged)

    def compile_(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        for recorder in session.recorders:
            recorder.add_note("torch.compile: the program was run eagerly")
        return (lambda function: function) if model is None else model

    def compile_module(self: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        compile_(self)

    patcher.replace(torch, "compile", compile_)
    patcher.replace(torch.nn.Module, "compile", compile_module)


def note_compilation(session: RuntimeSession, patcher: Patcher) -> None:
    """Patch `torch.compile` to add a note to the report: operators inside compiled graphs are not recorded.

    This is for recording on real devices, where compilation goes on as usual.
    """
    original = torch.compile

    def compile_(*args: Any, **kwargs: Any) -> Any:
        for recorder in session.recorders:
            recorder.add_note("torch.compile: operators inside compiled graphs are not seen")
        return original(*args, **kwargs)

    patcher.replace(torch, "compile", compile_)
