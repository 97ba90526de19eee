"""Names that torch's modules about accelerators do not have."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "a name of CUDA": """
def names():
    return [torch.accelerator.get_device_name(i) for i in range(torch.accelerator.device_count())]  # DEV608
""",
    "a name that nothing has": """
device = torch.accelerator.current_device()  # DEV608
""",
    "read, not called": """
seed = torch.accelerator.manual_seed_all  # DEV608
""",
    "another backend": """
def used():
    if torch.backends.mps.is_available():
        return torch.mps.memory_allocated()  # DEV608
    return torch.cuda.current_accelerator()  # DEV608
""",
    "imported": """
from torch.accelerator import manual_seed, synchronize  # DEV608

def seed():
    from torch.mps import set_device  # DEV608
    set_device(torch.cuda.current_device())  # DEV608
""",
    "an imported module": """
from torch import accelerator
import torch.mps as backend

with accelerator.stream(accelerator.current_stream()):  # DEV608
    backend.set_device(0)  # DEV608
""",
}

GOOD = {
    "asked in a way that is not followed": """
def seed(names, backend):
    if any(hasattr(torch.mps, name) for name in names):
        torch.mps.set_device(0)
    try:
        backend.seed()
    except AttributeError:
        torch.accelerator.manual_seed(0)
""",
    "names that are there": """
torch.accelerator.synchronize()
torch.accelerator.memory.empty_cache()
torch.accelerator.set_device_idx(0)
torch.accelerator.max_memory_allocated()
torch.mps.current_allocated_memory()
torch.cuda.FloatTensor(3), torch.xpu.HalfTensor
torch.cuda.nvtx.range_push("a")
torch.cuda.comm.broadcast
""",
    "a name that a new torch has": """
torch.accelerator.Graph
torch.accelerator.random.initial_seed()
""",
    "asked before": """
def sync():
    if hasattr(torch.accelerator, "manual_seed"):
        torch.accelerator.manual_seed(0)
    if hasattr(torch.mps, "set_device") and torch.mps.set_device:
        torch.mps.set_device(0)
    stream = torch.accelerator.stream if hasattr(torch.accelerator, "stream") else None
""",
    "a missing name is handled": """
try:
    torch.accelerator.manual_seed(0)
except AttributeError:
    torch.manual_seed(0)
try:
    name = torch.accelerator.get_device_name(0)
except Exception:
    name = ""
getattr(torch.accelerator, "stream", None)
try:
    from torch.accelerator import manual_seed
except ImportError:
    manual_seed = torch.manual_seed
""",
    "fetched with a default": """
def free(device: torch.device):
    acc = getattr(torch, "accelerator", None)
    if acc is not None:
        mem_mod = getattr(acc, "memory", None)
        mem_get_info = getattr(mem_mod, "mem_get_info", None)
        if callable(mem_get_info):
            return mem_get_info(device)
    return None
""",
    "a package that adds names": """
import intel_extension_for_pytorch as ipex
torch.xpu.optimize(nn.Linear(3, 3))
""",
    "a version is asked": """
from packaging import version
if version.parse(torch.__version__) >= version.parse("9.9"):
    torch.accelerator.manual_seed(0)
""",
    "other modules and objects": """
def move(accelerator, x):
    return accelerator.manual_seed(0), torch.npu.anything(), torch.hpu.thing
torch.cuda._sleep(1000)
torch.get_device_module().get_device_name(0)
""",
    "the program's own": """
torch.accelerator.manual_seed = torch.manual_seed
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV608")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV608")


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("get_device_name", "write `torch.get_device_module(device).get_device_name`, which needs torch 2.4 or newer"),
        ("current_device", "write `torch.accelerator.current_device_index`, which needs torch 2.6 or newer"),
        ("sychronize", "did you mean `torch.accelerator.synchronize`?"),
        (
            "get_gencode_flags",
            "only CUDA has it (flags of NVIDIA's compiler): call `torch.cuda.get_gencode_flags` where CUDA is"
            " available, or leave it out",
        ),
        ("entirely_new", None),
    ],
)
def test_the_advice(name: str, help_: str | None) -> None:
    (found,) = check(f"torch.accelerator.{name}()  # DEV608\n", "DEV608")
    assert found.help == help_
    assert found.message == f"`torch.accelerator` has no `{name}` in any release of torch up to 2.15"
