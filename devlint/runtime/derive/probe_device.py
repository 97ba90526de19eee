"""The accelerator that probes run on: a CUDA device if there is one, else an emulated one."""

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
    """Provide an accelerator while the block runs, and give the source name of its facts."""
    if torch.cuda.is_available():
        yield REAL
        return
    with emulate():
        yield EMULATED
