"""The accelerator on which torch calls are probed: a CUDA device if there is one, else an emulated device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch

from devlint.runtime import emulate

REAL: Final = "gpu"
"""The source name of facts from a real device."""
EMULATED: Final = "emulated"
"""The source name of facts from an emulated device."""


@contextmanager
def probe_accelerator() -> Iterator[str]:
    """Make an accelerator available inside the ``with`` block: the CUDA device, else one emulated on the CPU.

    Yields "gpu" or "emulated", which the semantics table records as the source of facts found on the accelerator.
    """
    if torch.cuda.is_available():
        yield REAL
        return
    with emulate():
        yield EMULATED
