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
    ("DEV605", "functions, but no seeds, whose replacement seeds the host too"): """
        def peak(rank: int):
            torch.cuda.set_device(rank)
            torch.cuda.manual_seed(rank)
            torch.cuda.synchronize()
            return torch.cuda.max_memory_allocated(rank)
        # becomes (unsafe)
        def peak(rank: int):
            torch.accelerator.set_device_index(rank)
            torch.cuda.manual_seed(rank)
            torch.accelerator.synchronize()
            return torch.accelerator.max_memory_allocated(rank) if torch.accelerator.is_available() else 0
        """,
    ("DEV605", "functions that do nothing without an accelerator"): """
        def clean(callback, often: bool):
            torch.cuda.empty_cache()  # of the last step
            callback(torch.cuda.empty_cache)
            if often: torch.cuda.empty_cache()
            return torch.cuda.memory_allocated() / 2, often and torch.cuda.empty_cache()
        # becomes (unsafe)
        def clean(callback, often: bool):
            if torch.accelerator.is_available():
                torch.accelerator.empty_cache()  # of the last step
            callback(torch.cuda.empty_cache)
            if often: torch.accelerator.empty_cache() if torch.accelerator.is_available() else None
            return (torch.accelerator.memory_allocated() if torch.accelerator.is_available() else 0) / 2, often and (torch.accelerator.empty_cache() if torch.accelerator.is_available() else None)
        """,  # noqa: E501
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
    ("DEV603", "variables"): """
        from torch.autograd import Variable

        def step(model, x, y, n):
            x, y = Variable(x.cuda()), Variable(y)
            scale = Variable(x + y).sum()
            return model(x, y), scale, Variable(torch.ones(n), requires_grad=True)
        # becomes (unsafe)
        from torch.autograd import Variable

        def step(model, x, y, n):
            x, y = x.cuda(), y
            scale = (x + y).sum()
            return model(x, y), scale, Variable(torch.ones(n), requires_grad=True)
        """,
    ("DEV603", "tensor types"): """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

        def cast(x: torch.Tensor):
            return x.type("torch.cuda.FloatTensor"), x.type(torch.cuda.LongTensor), torch.cuda.FloatTensor(3)
        # becomes (unsafe)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

        def cast(x: torch.Tensor):
            return x.to(device, torch.float32), x.to(device, torch.int64), torch.cuda.FloatTensor(3)
        """,
    ("DEV603", "tensor types and no device"): """
        def cast(x: torch.Tensor):
            return x.type("torch.cuda.FloatTensor")
        """,
    ("DEV604", "factories"): """
        def positions(n: int, device: torch.device):
            return torch.arange(n)
        # becomes (unsafe)
        def positions(n: int, device: torch.device):
            return torch.arange(n, device=device)
        """,
    ("DEV604", "several factories, whose tensors meet"): """
        def grid(n: int, device: str = "cpu"):
            ys = torch.linspace(-1, 1, n)
            xs = torch.linspace(-1, 1, n)
            return ys + xs

        grid(4, device="cuda")
        # becomes (unsafe)
        def grid(n: int, device: str = "cpu"):
            ys = torch.linspace(-1, 1, n, device=device)
            xs = torch.linspace(-1, 1, n, device=device)
            return ys + xs

        grid(4, device="cuda")
        """,
    ("DEV604", "transfers"): """
        def bring(x: torch.Tensor, *, device: str = "cuda"):
            return x.cuda()
        # becomes (unsafe)
        def bring(x: torch.Tensor, *, device: str = "cuda"):
            return x.to(device)
        """,
    ("DEV604", "a device that is bound anew"): """
        def positions(n: int, device: torch.device):
            device = "cuda:1"
            return torch.arange(n).cuda()
        """,
    ("DEV607", "at once"): """
        device = torch.accelerator.current_accelerator().type
        other = torch.device(torch.accelerator.current_accelerator())
        # becomes (safe)
        device = (torch.accelerator.current_accelerator() or torch.device("cpu")).type
        other = torch.device(torch.accelerator.current_accelerator() or torch.device("cpu"))
        """,
    ("DEV607", "by a name"): """
        def place(x: torch.Tensor):
            device = torch.accelerator.current_accelerator()
            return x.to(device.type)
        # becomes (unsafe)
        def place(x: torch.Tensor):
            device = torch.accelerator.current_accelerator() or torch.device("cpu")
            return x.to(device.type)
        """,
    ("DEV608", "what other modules have"): """
        def about():
            return torch.accelerator.get_device_name(0), torch.mps.memory_allocated()
        # becomes (unsafe)
        def about():
            return torch.get_device_module().get_device_name(0), torch.accelerator.memory_allocated()
        """,
    ("DEV608", "names that are only alike"): """
        def wait():
            torch.accelerator.syncronize()
        """,
    ("DEV609", "factories and casts"): """
        def make(x: torch.Tensor):
            scale = torch.ones(3, dtype=torch.float64, device="mps")
            moved = x.to("mps")
            return scale, moved.double(), moved.to(torch.double)
        # becomes (unsafe)
        def make(x: torch.Tensor):
            scale = torch.ones(3, dtype=torch.float32, device="mps")
            moved = x.to("mps")
            return scale, moved.float(), moved.to(torch.float32)
        """,
    ("DEV610", "a device before the group"): """
        import torch.distributed as dist

        def setup(rank: int):
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            dist.init_process_group("nccl", rank=rank)
            return device, dist.new_group([0, 1], backend="nccl")
        # becomes (unsafe)
        import torch.distributed as dist

        def setup(rank: int):
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            dist.init_process_group(dist.get_default_backend_for_device(device), rank=rank)
            return device, dist.new_group([0, 1], backend=dist.get_default_backend_for_device(device))
        """,
    ("DEV610", "a device after the group"): """
        def setup(rank: int):
            torch.distributed.init_process_group("nccl", rank=rank)
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            return device
        """,
    ("DEV611", "a device in sight"): """
        from torch.cuda.amp import autocast

        device = "cuda" if torch.cuda.is_available() else "cpu"

        def step(model, x: torch.Tensor, fp16: bool):
            scaler = torch.cuda.amp.GradScaler()
            with torch.autocast("cuda", dtype=torch.bfloat16), torch.amp.autocast(device_type="cuda"):
                y = model(x.to(device))
            with autocast(), torch.cuda.amp.autocast(True, torch.bfloat16):
                return scaler.scale(model(y))
        # becomes (unsafe)
        from torch.cuda.amp import autocast

        device = "cuda" if torch.cuda.is_available() else "cpu"

        def step(model, x: torch.Tensor, fp16: bool):
            scaler = torch.amp.GradScaler(device)
            with torch.autocast(device, dtype=torch.bfloat16), torch.amp.autocast(device_type=device):
                y = model(x.to(device))
            with torch.amp.autocast(device), torch.amp.autocast(device, enabled=True, dtype=torch.bfloat16):
                return scaler.scale(model(y))
        """,
    ("DEV611", "no device in sight"): """
        def step(model, x: torch.Tensor):
            with torch.autocast("cuda"):
                return model(x.to("cuda" if torch.cuda.is_available() else "cpu"))
        """,
}


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_fix(pair: tuple[str, str]) -> None:
    check_fix(PAIRS[pair], pair[0])
