"""Writes to pinned memory while a copy out of it may be running."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "refilled in a loop": """
buffer = torch.empty(1024, pin_memory=True)
batches = []
for number in range(1000):
    buffer.fill_(number)  # DEV504
    batches.append(buffer.to("cuda", non_blocking=True))
""",
    "written to at once": """
a, b, c = (torch.zeros(1024).pin_memory() for _ in range(3))
d = torch.zeros(1024).pin_memory()
x = a.to("cuda", non_blocking=True)
a.zero_()  # DEV504
y = b.cuda(non_blocking=True)
b[0] = 1  # DEV504
z = c.cuda(non_blocking=True)
c += 1  # DEV504
u = d.cuda(non_blocking=True)
torch.add(c, 1, out=d)  # DEV504
""",
    "a copy into a tensor on the accelerator": """
buffer = torch.zeros(1024, pin_memory=True)
x = torch.empty(1024, device="cuda")
x.copy_(buffer, non_blocking=True)
buffer.copy_(torch.ones(1024))  # DEV504
""",
    "through an array": """
buffer = torch.zeros(1024, pin_memory=True)
array = buffer.numpy()
x = buffer.to("cuda", non_blocking=True)
array[:] = 1  # DEV504
""",
    "a buffer of an object": """
class Feeder:
    def __init__(self, n, device):
        self.staging = torch.empty(n, pin_memory=True)
        self.device = device

    def move(self, x):
        self.staging.copy_(x)  # DEV504
        return self.staging.to(self.device, non_blocking=True)

feeder = Feeder(16, torch.device("cuda"))
a = feeder.move(torch.ones(16))
b = feeder.move(torch.zeros(16))
""",
    "made anew in an outer loop": """
def move(epochs, xs):
    for _ in range(epochs):
        buffer = torch.empty(16, pin_memory=True)
        for x in xs:
            buffer.copy_(x)  # DEV504
            y = buffer.to("cuda", non_blocking=True) * 2
""",
    "the caller's device": """
def move(xs, device: torch.device):
    buffer = torch.empty(16, pin_memory=True)
    moved = []
    for x in xs:
        buffer.copy_(x)  # DEV504
        moved.append(buffer.to(device, non_blocking=True) * 2)
    return moved
""",
    "refilled by a generator that a loop goes on with": """
class Feeder:
    def __init__(self, frames, device):
        self.frames = frames
        self.device = device
        self.staging = torch.empty(3, 640, 480, pin_memory=True)

    def __iter__(self):
        for number in range(self.frames):
            self.staging.fill_(number)  # DEV504
            yield self.staging.to(self.device, non_blocking=True)

    def of(self, frames):
        for frame in frames:
            self.staging.copy_(frame)  # DEV504
            yield self.staging.to(self.device, non_blocking=True)

def numbered(frames):
    staging = torch.empty(3, 640, 480, pin_memory=True)
    for frame in frames:
        staging.copy_(frame)  # DEV504
        yield staging.cuda(non_blocking=True)

feeder = Feeder(100, torch.device("cuda"))
means = [frame.mean() for frame in feeder]
for frame in feeder.of(torch.rand(20, 3, 640, 480)):
    means.append(frame.mean())
for number, frame in enumerate(numbered(torch.rand(20, 3, 640, 480))):
    if number % 10 == 0:
        continue
    means.append(frame.mean())
""",
    "only now and then waited for": """
buffer = torch.empty(1024).pin_memory()
x = buffer.to("cuda", non_blocking=True)
for number in range(1000):
    if number % 2:
        buffer.fill_(number)  # DEV504
""",
}
GOOD = {
    "waited for": """
buffer = torch.empty(1024, pin_memory=True)
for number in range(1000):
    buffer.fill_(number)
    x = buffer.to("cuda", non_blocking=True)
    print((x * 2).sum().item())
for number in range(1000):
    buffer.fill_(number)
    x = buffer.to("cuda", non_blocking=True)
    torch.cuda.synchronize()
for number in range(1000):
    buffer.fill_(number)
    x = buffer.to("cuda", non_blocking=True)
    torch.cuda.current_stream().synchronize()
""",
    "an event": """
buffer = torch.empty(1024, pin_memory=True)
event = torch.cuda.Event()
for number in range(1000):
    event.synchronize()
    buffer.fill_(number)
    x = buffer.to("cuda", non_blocking=True)
    event.record()
""",
    "a copy that waits": """
buffer = torch.empty(1024, pin_memory=True)
for number in range(1000):
    buffer.fill_(number)
    x = buffer.to("cuda")
    y = buffer.to("cuda", non_blocking=False)
""",
    "not pinned": """
buffer = torch.empty(1024)
for number in range(1000):
    buffer.fill_(number)
    x = buffer.to("cuda", non_blocking=True)
""",
    "new memory each time": """
for number in range(1000):
    buffer = torch.empty(1024, pin_memory=True)
    buffer.fill_(number)
    x = buffer.to("cuda", non_blocking=True)
for number in range(1000):
    y = torch.full((8,), number).pin_memory()
    y = y.to("cuda", non_blocking=True)
    y.add_(1)
""",
    "two buffers in turn": """
buffers = [torch.empty(1024, pin_memory=True) for _ in range(2)]
both = torch.empty(2, 1024, pin_memory=True)
for number in range(1000):
    buffers[number % 2].fill_(number)
    x = buffers[number % 2].to("cuda", non_blocking=True)
    both[number % 2].fill_(number)
    y = both[number % 2].to("cuda", non_blocking=True)
""",
    "one of many buffers": """
def ring(n):
    buffers = [torch.empty(8, pin_memory=True) for _ in range(n)]
    i = 0
    for number in range(100):
        buffers[i].fill_(number)
        x = buffers[i].to("cuda", non_blocking=True)
        i = (i + 1) % n
    for one in buffers:
        one.fill_(1)
        x = one.to("cuda", non_blocking=True)

def make():
    return torch.empty(8, pin_memory=True)

two = {"a": make(), "b": make()}
for key in two:
    two[key].fill_(2)
    two[key].cuda(non_blocking=True)
""",
    "written by the accelerator": """
buffer = torch.zeros(1024, pin_memory=True)
x = buffer.to("cuda", non_blocking=True)
buffer.copy_(x * 2, non_blocking=True)
""",
    "read, not written": """
buffer = torch.zeros(1024, pin_memory=True)
x = buffer.to("cuda", non_blocking=True)
print(buffer.sum(), buffer[0])
y = buffer * 2
buffer = buffer + 1
""",
    "the copy on the device is written": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
buffer = torch.zeros(1024, pin_memory=True)
x = buffer.to(device, non_blocking=True)
x.mul_(2)
x[0] = 1
""",
    "unknown code in between": """
from trainer import step

def train(xs):
    buffer = torch.empty(16, pin_memory=True)
    for x in xs:
        buffer.copy_(x)
        step(buffer.to("cuda", non_blocking=True))

def feed(xs):
    buffer = torch.empty(16, pin_memory=True)
    for x in xs:
        buffer.copy_(x)
        yield buffer.to("cuda", non_blocking=True)
""",
    "a generator whose values are waited for": """
def feed(xs):
    buffer = torch.empty(16, pin_memory=True)
    for x in xs:
        buffer.copy_(x)
        yield buffer.to("cuda", non_blocking=True)

for x in feed(torch.rand(9, 16)):
    print(x.sum().item())
sums = [(x * 2).sum().cpu() for x in feed(torch.rand(9, 16))]
for x in feed(torch.rand(9, 16)):
    y = x * 2
    torch.cuda.synchronize()
""",
    "a generator that waits before it goes on": """
def feed(xs):
    buffer = torch.empty(16, pin_memory=True)
    for x in xs:
        buffer.copy_(x)
        yield buffer.to("cuda", non_blocking=True)
        torch.cuda.current_stream().synchronize()

for x in feed(torch.rand(9, 16)):
    y = x * 2
""",
    "a generator whose first value is enough": """
from trainer import step

def feed(xs):
    buffer = torch.empty(16, pin_memory=True)
    for x in xs:
        buffer.copy_(x)
        yield buffer.to("cuda", non_blocking=True)

for x in feed(torch.rand(9, 16)):
    y = x * 2
    break
for x in feed(torch.rand(9, 16)):
    step(x)
z = next(feed(torch.rand(9, 16)))
""",
    "both under one condition": """
def move(x, fast: bool):
    buffer = torch.zeros(16, pin_memory=True)
    y = buffer.to("cuda", non_blocking=True) if fast else buffer.to("cuda")
    if fast:
        torch.cuda.synchronize()
    buffer.copy_(x)
    if fast:
        z = buffer.to("cuda", non_blocking=True)
    if not fast:
        buffer.zero_()
    return y
""",
    "the host, by a flag": """
def move(x, device: str):
    buffer = torch.zeros(16, pin_memory=True)
    y = buffer.to("cpu", non_blocking=True)
    buffer.copy_(x)
    return y
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV504")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV504")


def test_the_finding_names_the_copy() -> None:
    (found,) = check(
        "a = torch.zeros(9, pin_memory=True)\nb = a.cuda(non_blocking=True)\na.zero_()  # DEV504\n", "DEV504"
    )
    assert (
        found.message
        == "`a` is written to while its non_blocking copy to cuda may still be running: wrong values may arrive"
    )
    assert [one.message for one in found.trace] == ["`a` moved by `.cuda()`, which does not wait"]


def test_a_copy_below_the_write_is_that_of_the_iteration_before() -> None:
    program = """
def upload(frames):
    staging = torch.empty(3).pin_memory()
    sent = []
    for frame in frames:
        staging.copy_(frame)  # DEV504
        sent.append(staging.cuda(non_blocking=True))
    return sent
"""
    (found,) = check(program, "DEV504")
    assert found.message == (
        "`staging` is written to while its non_blocking copy to cuda of the iteration before may still be running:"
        " wrong values may arrive"
    )
