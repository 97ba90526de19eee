"""The accelerator that is asked: a CUDA device where there is one, else the emulated one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch

from devlint.runtime import emulate

REAL: Final = "gpu"
EMULATED: Final = "emulated"


@contextmanager
def probe_accelerator() -> Iterator[str]:
    """Have an accelerator; gives the source that its answers are."""
    if torch.cuda.is_available():
        yield REAL
        return
    with emulate():
        yield EMULATED
