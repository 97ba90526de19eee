"""Patches for `pytest --devlint=move`: a module that a test makes or calls is placed on the accelerator."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

from devlint.runtime.moved_tests import MovedTests
from devlint.runtime.patches.patcher import Patcher


def install(moved: MovedTests, patcher: Patcher) -> None:
    """Patch `torch.nn.Module` and `torch.testing.assert_close` for a suite that runs as if it moved its modules.

    A module is moved when its construction by a test is over, and otherwise when a test calls it, with its arguments.
    One that a test has moved to the host by name stays there, and is called with what the test gives it.
    """
    making: set[int] = set()

    def moving(construct: Any) -> Any:
        """Return a constructor that moves the module at its end, if a test calls it."""

        @functools.wraps(construct)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if id(self) in making or not moved.active or not moved.is_test(sys._getframe(1)):
                construct(self, *args, **kwargs)
                return
            making.add(id(self))
            try:
                construct(self, *args, **kwargs)
            finally:
                making.discard(id(self))
            if _names_host(*args, kwargs.get("device")):
                moved.note_move(self, torch.device("cpu"))
            else:
                moved.place_module(self)

        return __init__

    def calling(call: Any) -> Any:
        """Return a method `__call__` that moves the module and its arguments first, if a test calls it."""

        @functools.wraps(call)
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if moved.active and moved.is_test(sys._getframe(1)) and not moved.stays_on_host(self):
                moved.place_module(self)
                args, kwargs = moved.place(args), moved.place(kwargs)
            return call(self, *args, **kwargs)

        return __call__

    def init_subclass(cls: Any, /, **kwargs: Any) -> None:
        super(torch.nn.Module, cls).__init_subclass__(**kwargs)
        for name, wrapped in (("__init__", moving), ("__call__", calling)):
            if name in vars(cls):
                setattr(cls, name, wrapped(vars(cls)[name]))

    to: Any = torch.nn.Module.to

    @functools.wraps(to)
    def move(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        out = to(self, *args, **kwargs)
        device = torch._C._nn._parse_to(*args, **kwargs)[0]
        if device is not None and moved.is_test(sys._getframe(1)):
            moved.note_move(self, device)
        return out

    to_host: Any = torch.nn.Module.cpu

    @functools.wraps(to_host)
    def move_to_host(self: torch.nn.Module) -> Any:
        if moved.is_test(sys._getframe(1)):
            moved.note_move(self, torch.device("cpu"))
        return to_host(self)

    pack: Any = torch.nn.utils.rnn.pack_padded_sequence

    @functools.wraps(pack)
    def pack_padded_sequence(input: torch.Tensor, lengths: Any, *args: Any, **kwargs: Any) -> Any:
        """Take the lengths from the host, where torch wants them, if a test packs sequences."""
        if isinstance(lengths, torch.Tensor) and moved.is_test(sys._getframe(1)):
            lengths = lengths.cpu()
        return pack(input, lengths, *args, **kwargs)

    patcher.replace(torch.nn.utils.rnn, "pack_padded_sequence", pack_padded_sequence)
    patcher.replace(torch.nn.Module, "__init_subclass__", classmethod(init_subclass))
    patcher.replace(torch.nn.Module, "__call__", calling(torch.nn.Module.__call__))
    patcher.replace(torch.nn.Module, "to", move)
    patcher.replace(torch.nn.Module, "cpu", move_to_host)
    patcher.replace(torch.testing, "assert_close", _on_any_device(torch.testing.assert_close))


def _names_host(*values: Any) -> bool:
    """Return whether one of the arguments of a constructor is the host as a device."""
    return any(value in ("cpu", torch.device("cpu")) for value in values if isinstance(value, str | torch.device))


def _on_any_device(compare: Any) -> Any:
    """Return `torch.testing.assert_close` so that it compares tensors on different devices, unless told otherwise."""

    @functools.wraps(compare)
    def assert_close(*args: Any, check_device: bool = False, **kwargs: Any) -> None:
        compare(*args, check_device=check_device, **kwargs)

    return assert_close
