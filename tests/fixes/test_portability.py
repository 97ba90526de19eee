"""Fixes that write what works with any accelerator."""

from __future__ import annotations

import pytest

from .programs import check_fix

PAIRS = {
    ("DEV602", "loads"): """
        def restore(path):
            return torch.load(path), torch.load(path, None), torch.jit.load(
                path,
            )
        # becomes (unsafe)
        def restore(path):
            return torch.load(path, map_location="cpu"), torch.load(path, "cpu"), torch.jit.load(
                path,
                map_location="cpu",
            )
        """,
    ("DEV605", "functions"): """
        def peak(rank: int):
            torch.cuda.set_device(rank)
            torch.cuda.synchronize()
            return torch.cuda.max_memory_allocated(rank)
        # becomes (unsafe)
        def peak(rank: int):
            torch.accelerator.set_device_index(rank)
            torch.accelerator.synchronize()
            return torch.accelerator.max_memory_allocated(rank)
        """,
    ("DEV606", "devices"): """
        name = ("cuda" if torch.accelerator.is_available() else "cpu")
        if torch.accelerator.is_available():
            first = torch.zeros(3, device="cuda:0")
        # becomes (unsafe)
        name = (torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu")
        if torch.accelerator.is_available():
            first = torch.zeros(3, device=f"{torch.accelerator.current_accelerator().type}:0")
        """,
    ("DEV606", "another check"): """
        device = torch.device("mps" if torch.cuda.is_available() else "cpu")
        """,
    ("DEV605", "classes"): """
        from torch import cuda

        def events(stream=None):
            return cuda.Event(enable_timing=True), cuda.Stream()
        # becomes (unsafe)
        from torch import cuda

        def events(stream=None):
            return torch.Event(enable_timing=True), torch.Stream()
        """,
    ("DEV605", "arguments that the other does not take"): """
        def wait(device: int):
            torch.cuda.synchronize(device=device)
            with torch.cuda.device(device):
                return torch.cuda.Event(True), torch.cuda.amp.GradScaler()
        """,
}


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_fix(pair: tuple[str, str]) -> None:
    check_fix(PAIRS[pair], pair[0])
