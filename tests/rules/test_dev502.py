"""Copies read on the host before they are known to be complete."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "an argument that may be anywhere": """
def pack(done: torch.Tensor):
    lengths = done.sum(1).to("cpu", non_blocking=True)
    return int(lengths[0].item())  # DEV502
""",
    "an array that is read before it is returned": """
def fetch(x: torch.Tensor):
    array = x.cuda().to("cpu", non_blocking=True).numpy()  # DEV502
    if array[0] > 1:
        return None
    return array
""",
    "from an accelerator where the target may be the host": """
def fetch(x: torch.Tensor, on_host: bool):
    target = torch.device("cpu") if on_host else torch.device("cuda")
    y = x.cuda().to(target, non_blocking=True)
    return y.tolist() if on_host else None  # DEV502
""",
    "a caller's tensor on some paths": """
def pick(x: torch.Tensor, places: torch.Tensor, on_host: bool):
    target = torch.device("cpu") if on_host else x.device
    places = places.to(target, non_blocking=True)
    return places.tolist() if on_host else None  # DEV502
""",
    "a caller's tensor": """
def total(x: torch.Tensor):
    return x.to("cpu", non_blocking=True).sum().item()  # DEV502
""",
    "numpy": """
x = torch.rand(8, device="cuda")
h = x.to("cpu", non_blocking=True)
print(h.numpy())  # DEV502
""",
    "item and tolist": """
x = torch.rand(8, device="cuda")
a = x.sum().to("cpu", non_blocking=True)
b = x.to("cpu", non_blocking=True)
print(a.item())  # DEV502
ids = b.tolist()  # DEV502
""",
    "a condition": """
def done(flags: torch.Tensor):
    flags = flags.cuda()
    stop = flags.all().to("cpu", non_blocking=True)
    if stop:  # DEV502
        return True
""",
    "in one expression": """
x = torch.rand(8, device="cuda")
array = x.detach().to("cpu", non_blocking=True).numpy()  # DEV502
""",
    "with a device object": """
host = torch.device("cpu")
x = torch.rand(8, device="cuda")
h = x.to(host, torch.float32, True)
print(h)  # DEV502
""",
    "NumPy functions": """
x = torch.rand(8, device="cuda")
h = x.to("cpu", non_blocking=True)
mean = np.mean(h.numpy())  # DEV502
""",
    "when there is an accelerator": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.rand(8, device=device)
h = x.to("cpu", non_blocking=True)
print(h.max().item())  # DEV502
""",
}

GOOD = {
    "an argument whose name says that it is on the host": """
def pack(done_cpu: torch.Tensor):
    lengths = done_cpu.sum(1).to("cpu", non_blocking=True)
    return int(lengths[0].item())
""",
    "from the host where the target is the host": """
class Cache:
    def __init__(self, offsets):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.offsets = torch.tensor(offsets, device=self.device)

    def pick(self, places: torch.Tensor):
        places = places.to(self.device).to(self.offsets.device, non_blocking=True)
        return self.offsets.index_select(0, places)
""",
    "to the device of a table that may have been moved": """
def pick(places: torch.Tensor, device: torch.device, move: bool):
    table = torch.arange(8)
    if move:
        table = table.to(device)
    places = places.to(device).to(table.device, non_blocking=True)
    return table.index_select(0, places)
""",
    "an array that is only returned": """
def fetch(x: torch.Tensor, as_array: bool):
    if x.is_cuda:
        host = x.to("cpu", non_blocking=True)
        if as_array:
            host = host.numpy()
        x.record_stream(torch.cuda.current_stream())
        x = host
    return x

def fetch_array(x: torch.Tensor):
    return x.cuda().to("cpu", non_blocking=True).numpy()
""",
    "synchronised": """
x = torch.rand(8, device="cuda")
h = x.to("cpu", non_blocking=True)
torch.cuda.synchronize()
print(h.numpy())
""",
    "a stream or an event is waited for": """
x = torch.rand(8, device="cuda")
h = x.to("cpu", non_blocking=True)
torch.cuda.current_stream().synchronize()
print(h.numpy())
g = x.to("cpu", non_blocking=True)
event = torch.cuda.Event()
event.record()
event.synchronize()
print(g.numpy())
""",
    "something else has waited": """
x = torch.rand(8, device="cuda")
h = x.to("cpu", non_blocking=True)
print(x.sum().item())
print(h.numpy())
""",
    "a copy that waits": """
x = torch.rand(8, device="cuda")
print(x.to("cpu").numpy(), x.cpu().numpy())
print(x.to("cpu", non_blocking=False).numpy())
""",
    "to the accelerator": """
x = torch.rand(8).pin_memory()
y = x.to("cuda", non_blocking=True)
print(y)
print(x.numpy())
""",
    "back to the accelerator": """
x = torch.rand(8, device="cuda")
h = x.to("cpu", non_blocking=True)
y = h.to("cuda", non_blocking=True)
""",
    "only handed on": """
def fetch(x: torch.Tensor):
    return x.to("cpu", non_blocking=True)
""",
    "shapes": """
x = torch.rand(8, device="cuda")
h = x.to("cpu", non_blocking=True)
print(h.shape, h.dtype, h.device, h.numel())
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV502")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV502")


def test_one_copy_read_twice_is_one_finding() -> None:
    source = """
x = torch.rand(8, device="cuda")
h = x.to("cpu", non_blocking=True)
a = h.numpy()  # DEV502
b = h.numpy()
"""
    (found,) = check(source, "DEV502")
    assert found.message == "`h` is read on the host before its non_blocking copy is known to be complete"
    assert [note.region.start.row for note in found.trace] == [6, 7]
    assert found.trace[1].message == "`h` moved by `.to()`, which does not wait"
