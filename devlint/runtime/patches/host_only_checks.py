"""Emulation of functions that PyTorch checks on the host only, where a check on a device would make the host wait."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch

from devlint.runtime.storage_labels import placement_of

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace `one_hot`, so that its check of the class numbers is no wait, as it is not made on an accelerator.

    aten/src/ATen/native/Onehot.cpp reads the smallest and the largest class on the host, and leaves the check to the
    kernel of `scatter_` elsewhere. There it reads the largest class only if the number of classes is not given.
    """
    original = torch.nn.functional.one_hot

    @functools.wraps(original)
    def one_hot(input: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
        if not placement_of(input).key:
            return original(input, num_classes)
        if num_classes == -1 and input.numel():
            session.host_waited("item")
        before, session.checks_on_host = session.checks_on_host, True
        try:
            return original(input, num_classes)
        finally:
            session.checks_on_host = before

    patcher.replace(torch.nn.functional, "one_hot", one_hot)
