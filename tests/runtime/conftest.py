from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from devlint.runtime import emulate  # noqa: E402


@pytest.fixture
def device() -> Iterator[Any]:
    """Provide the emulated device."""
    with emulate():
        yield torch.device("cuda", 0)


@pytest.fixture
def forked() -> Callable[[Callable[[], Any]], Any]:
    """Provide a function that calls another one in a child of this process."""
    return _forked


def _forked(work: Callable[[], Any]) -> Any:
    """Return the result of `work` in a child of this process.

    Torch is imported there already, and nothing that the child changes remains.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        # The threads of the parent are not in the child, and a kernel that counts on them waits for ever.
        torch.set_num_threads(1)
        # Importing torch's own tests forbids a process to set cuDNN's flags, which a program may.
        torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True
        try:
            result = pickle.dumps((True, work()))
        except BaseException:
            result = pickle.dumps((False, traceback.format_exc()))
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(result)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    fine, result = pickle.loads(data)
    assert fine, result
    return result
