"""Clocks read while the accelerator may still be at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.diagnostic import Severity

from .programs import check

IMPORTS = "import time\nfrom time import perf_counter\n"
BAD = {
    "numbers that stay on the host, and a tensor that is copied on the accelerator": """
def measure():
    x = torch.rand(3, 3, device="cuda")
    start = time.time()
    y = x @ x
    mask, z = torch.tensor([True, False, True]), torch.tensor(x, device="cuda")
    print(time.time() - start)  # DEV501
""",
    "around a product": """
def measure():
    a = torch.rand(512, 512, device="cuda")
    start = time.time()
    b = a @ a
    print(time.time() - start)  # DEV501
""",
    "by a function that reads the clock for both": """
def now():
    return time.time()  # DEV501

def measure(model, x):
    start = now()
    model(x)
    print(now() - start)

def bench(n: int):
    model = nn.Linear(1000, 1000).cuda()
    for _ in range(n):
        measure(model, torch.rand(1000, 1000).cuda())

bench(100)
""",
    "work of each iteration but the first": """
def track(frames):
    model = nn.Linear(3, 1).cuda()
    times = []
    for i, frame in enumerate(frames):
        start = time.time()
        if i > 0:
            kept = model(torch.rand(8, 3, device="cuda"))
        times.append(time.time() - start)  # DEV501
    return times
""",
    "a text that shows no tensor": """
def run(n):
    a = torch.rand(n, n, device="cuda")
    start = time.time()
    b = a @ a
    text = "%d of %d" % (b.size(0), n)
    print(time.time() - start, text)  # DEV501
""",
    "around a model": """
def measure():
    model = nn.Linear(3, 3).cuda()
    x = torch.rand(8, 3, device="cuda")
    start = perf_counter()
    y = model(x)
    end = perf_counter()  # DEV501
    return end - start
""",
    "when there is an accelerator": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def measure(model: nn.Module):
    model = nn.Linear(3, 3).to(device)
    x = torch.rand(8, 3, device=device)
    with torch.no_grad():
        start = time.time()
        y = model(x)
        elapsed = time.time() - start  # DEV501
    print(y.cpu(), elapsed)
""",
    "in a loop": """
def measure(n):
    x = torch.rand(512, 512, device="cuda")
    times = []
    for _ in range(n):
        t0 = time.perf_counter()
        y = x.exp().sum(0)
        times.append(time.perf_counter() - t0)  # DEV501
    return times
""",
    "a function that a loop calls": """
def measure(x):
    start = time.time()
    y = x @ x
    return time.time() - start  # DEV501

def many():
    x = torch.rand(512, 512, device="cuda")
    for _ in range(10):
        print(measure(x))
""",
    "waited for too early": """
def measure():
    x = torch.rand(512, 512, device="cuda")
    torch.cuda.synchronize()
    start = time.time()
    y = x @ x
    print(f"took {time.time() - start:.3f} s")  # DEV501
""",
    "a benchmark of a script": """
model = nn.Linear(3, 3).cuda()
x = torch.rand(8, 3, device="cuda")
start = time.time()
for _ in range(100):
    model(x)
end = time.time()  # DEV501
print(100 / (end - start))
""",
    "work on one way only": """
def measure(fast):
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    if not fast:
        x = x @ x
    print(time.time() - start)  # DEV501
""",
    "a product that light work follows": """
def epoch(weight: torch.Tensor, n: int):
    weight = weight.cuda()
    for _ in range(n):
        print((weight @ weight).sum().item())
    start = time.time()
    out = weight @ weight
    out /= 3
    print(time.time() - start, out)  # DEV501
""",
    "around a step of a loop, by methods": """
class Meter:
    def tick(self):
        self.start = time.time()

    def tock(self):
        return time.time() - self.start  # DEV501

def train(n):
    model = nn.Linear(3, 1).cuda()
    meter = Meter()
    for i in range(n):
        meter.tick()
        loss = model(torch.rand(8, 3, device="cuda")).sum()
        loss.backward()
        print(meter.tock())
        print(loss.item())
""",
    "around a step of a loop, by methods of several objects": """
class Meter:
    def tick(self):
        self.start = time.time()

    def tock(self):
        print(time.time() - self.start)  # DEV501

def train(n):
    model = nn.Linear(3, 1).cuda()
    meters = [Meter()]
    for i in range(n):
        for meter in meters:
            meter.tick()
        loss = model(torch.rand(8, 3, device="cuda")).sum()
        loss.backward()
        for meter in meters:
            meter.tock()
        print(loss.item())
""",
    "a tail with a product, after a loop that waits": """
def evaluate(batches, weight: torch.Tensor):
    weight = weight.cuda()
    start = time.time()
    for batch in batches:
        print((batch.cuda() @ weight).cpu())
    y = torch.cat([weight, weight]) @ weight
    print(time.time() - start, y)  # DEV501
""",
    "an epoch whose batches are copied without a wait": """
def epoch(rows: torch.utils.data.Dataset):
    model = nn.Linear(3, 1).cuda()
    start = time.time()
    for batch in torch.utils.data.DataLoader(rows, pin_memory=True):
        model(batch.cuda(non_blocking=True)).sum().backward()
    print(time.time() - start)  # DEV501
""",
    "batches that wait in the line, and one product": """
def epoch(loader: torch.utils.data.DataLoader, weight: torch.Tensor):
    weight = weight.cuda()
    start = time.time()
    for batch in loader:
        print(batch.cuda().shape)
    y = weight @ weight
    print(time.time() - start, y)  # DEV501
""",
    "a distribution whose parameters are not checked": """
def sample(weight: torch.Tensor, n):
    weight = weight.cuda()
    start = time.time()
    for i in range(n):
        drawn = torch.distributions.Categorical(logits=weight @ weight, validate_args=False).sample()
    print(time.time() - start, drawn)  # DEV501
""",
    "a time in a list that is returned": """
def measure(n):
    x = torch.rand(512, 512, device="cuda")
    times = []
    for _ in range(n):
        start = time.time()
        y = x @ x
        times.append(1000 * (time.time() - start))  # DEV501
    return times
""",
    "a time in a list of the caller": """
def measure(times):
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = x @ x
    times.append(time.time() - start)  # DEV501
""",
    "a time that is printed on request": """
def measure(verbose):
    x = torch.rand(512, 512, device="cuda")
    took = time.time()
    y = x @ x
    took = time.time() - took  # DEV501
    if verbose or False:
        print(took)
""",
    "an index that is a slice or a number": """
def measure(n: int):
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = (x @ x)[2:n, 3][:, None, ...]
    print(time.time() - start)  # DEV501
""",
    "an index on the accelerator, where there is one": """
def measure():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.rand(512, 512, device=device)
    rows = torch.arange(3, device=device)
    start = time.time()
    y = (x @ x)[rows]
    print(time.time() - start)  # DEV501
""",
    "a model after the last index from the host": """
def measure():
    model = nn.Linear(512, 3).cuda()
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = model(x[torch.arange(3)])
    print(time.time() - start)  # DEV501
""",
    "a data set on the host that is only made into a tensor before": """
def measure(rows):
    x = torch.as_tensor(rows, device="cuda")
    start = time.time()
    y = x @ x
    print(time.time() - start)  # DEV501
""",
    "forward and backward": """
def measure():
    model = nn.Linear(3, 1).cuda()
    x = torch.rand(8, 3, device="cuda")
    start = time.time()
    loss = model(x).sum()
    loss.backward()
    print(time.time() - start)  # DEV501
""",
}

GOOD = {
    "numbers copied to the accelerator, which waits": """
def measure():
    x = torch.rand(3, 3, device="cuda")
    start = time.time()
    y = x @ x
    mask = torch.tensor([True, False, True], device="cuda")
    y[mask] = 0
    print(time.time() - start)
""",
    "synchronised": """
def measure():
    x = torch.rand(512, 512, device="cuda")
    torch.cuda.synchronize()
    start = time.time()
    y = x @ x
    torch.cuda.synchronize()
    print(time.time() - start)
""",
    "another way to say it": """
def measure():
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = x @ x
    torch.cuda.current_stream().synchronize()
    print(time.time() - start)
    start = time.time()
    y = x @ x
    torch.accelerator.synchronize()
    print(time.time() - start)
""",
    "read in between": """
def measure():
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = (x @ x).cpu()
    print(time.time() - start)
    start = time.time()
    total = (x @ x).sum().item()
    print(time.time() - start)
    start = time.time()
    print(x @ x)
    print(time.time() - start)
    start = time.time()
    values = (x @ x).tolist()
    print(time.time() - start)
""",
    "a copy that is timed": """
def measure():
    x = torch.rand(512, 512).to("cuda")
    start = time.time()
    y = x.cpu()
    middle = time.time()
    torch.cuda.synchronize()
    end = time.time()
    print(middle - start, end - middle)
""",
    "on the host": """
def measure():
    x = torch.rand(512, 512)
    start = time.time()
    y = x @ x
    print(time.time() - start)
""",
    "nothing launched in between": """
def measure(path):
    x = torch.rand(512, 512, device="cuda")
    y = x @ x
    start = time.time()
    data = open(path).read()
    print(time.time() - start)
""",
    "only printed": """
def stamp():
    x = torch.rand(512, 512, device="cuda")
    print(time.time())
    y = x @ x
    print(time.time())
""",
    "events": """
def measure():
    x = torch.rand(512, 512, device="cuda")
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    y = x @ x
    end.record()
    end.synchronize()
    print(start.elapsed_time(end))
""",
    "an event that is waited for": """
def measure():
    x = torch.rand(512, 512, device="cuda")
    done = torch.cuda.Event()
    begin = time.time()
    y = x @ x
    done.record()
    done.synchronize()
    print(time.time() - begin)
""",
    "a whole epoch with a loss that is read": """
def epoch(n):
    model = nn.Linear(3, 1).cuda()
    start = time.time()
    for _ in range(n):
        loss = model(torch.rand(8, 3, device="cuda")).sum()
        loss.backward()
        print(loss.item())
    print(time.time() - start)
""",
    "a script whose loop waits": """
model = nn.Linear(3, 3).cuda()
x = torch.rand(8, 3, device="cuda")
start = time.time()
for _ in range(100):
    total = model(x).sum().item()
end = time.time()
print(100 / (end - start))
""",
    "one way has waited": """
def measure(log):
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    x = x @ x
    if log:
        print(x.mean().item())
    else:
        torch.cuda.synchronize()
    print(time.time() - start)
""",
    "a loop that waits in each iteration, before the last work": """
def epoch(n):
    model = nn.Linear(3, 1).cuda()
    x = torch.rand(512, 512, device="cuda")
    y = x @ x
    start = time.time()
    for _ in range(n):
        loss = model(torch.rand(8, 3, device="cuda")).sum()
        print(loss.item())
        loss.backward()
    print(time.time() - start, y)
""",
    "progress of a loop": """
def train(n):
    model = nn.Linear(3, 1).cuda()
    start = time.time()
    for i in range(n):
        loss = model(torch.rand(8, 3, device="cuda")).sum()
        loss.backward()
        print(i, time.time() - start)
""",
    "laps of a loop": """
def train(n):
    model = nn.Linear(3, 1).cuda()
    last = time.time()
    for i in range(n):
        loss = model(torch.rand(8, 3, device="cuda")).sum()
        loss.backward()
        left = n * (time.time() - last)
        last = time.time()
        print(loss.item(), left)
""",
    "laps of a loop, taken by a function that keeps the clock": """
last = time.time()
begun = last

def progress(current: int):
    global last, begun
    if current == 0:
        begun = time.time()
    now = time.time()
    print(now - last, now - begun)
    last = now

def train(n):
    model = nn.Linear(3, 1).cuda()
    for i in range(n):
        loss = model(torch.rand(8, 3, device="cuda")).sum()
        loss.backward()
        progress(i)

for epoch in range(100):
    train(1000)
""",
    "work of the first iteration only": """
def track(frames):
    model = nn.Linear(3, 1).cuda()
    times = []
    for i, frame in enumerate(frames):
        start = time.time()
        if i == 0:
            kept = model(torch.rand(8, 3, device="cuda"))
        else:
            print(model(kept).cpu())
        times.append(time.time() - start)
    return times
""",
    "a text that shows a figure": """
def run(n):
    a = torch.rand(n, n, device="cuda")
    start = time.time()
    b = a @ a
    text = "%.3f of %d" % (b.mean(), n)
    print(time.time() - start, text)
    start = time.time()
    b = a @ a
    text = "%.3f" % b.mean()
    print(time.time() - start, text)
    start = time.time()
    b = a @ a
    text = "{} {:.3f}".format(n, b.mean())
    print(time.time() - start, text)
""",
    "a mean in place after a wait": """
def epoch(model, batches):
    start = time.time()
    total = torch.zeros(3, device="cuda")
    for batch in batches:
        total += model(batch.cuda()).item()
    total /= 3
    print(time.time() - start, total)
""",
    "a wait in an inner loop, and work of the outer one": """
def epoch(batches, weight: torch.Tensor, n: int):
    weight = weight.cuda()
    start = time.time()
    total = torch.zeros(3, device="cuda")
    for batch in batches:
        out = batch.cuda() @ weight
        for row in range(n):
            total[row] += out[row].sum().item()
    for row in range(n):
        total[row] = total[row] + 1
    print(time.time() - start, total)
""",
    "laps of a loop, taken by methods": """
class Meter:
    def tick(self):
        self.start = time.time()

    def tock(self):
        print(time.time() - self.start)

def train(n):
    model = nn.Linear(3, 1).cuda()
    meter = Meter()
    meter.tick()
    for i in range(n):
        loss = model(torch.rand(8, 3, device="cuda")).sum()
        loss.backward()
        meter.tock()
        meter.tick()
        print(loss.item())
""",
    "a tail that only copies, after a loop that waits": """
def evaluate(batches):
    model = nn.Linear(3, 1).cuda()
    start = time.time()
    seen = []
    for batch in batches:
        seen.append(batch.cuda())
        print(model(seen[-1]).cpu())
    y = torch.cat([torch.rand(8, 3, device="cuda"), torch.rand(8, 3, device="cuda")])
    z = y.sort().values[0].contiguous()
    print(time.time() - start, z)
""",
    "an epoch whose batches are copied one after the other": """
def epoch(loader: torch.utils.data.DataLoader):
    model = nn.Linear(3, 1).cuda()
    start = time.time()
    for batch in loader:
        model(batch.cuda()).sum().backward()
    print(time.time() - start)
""",
    "a distribution whose parameters are checked": """
def sample(weight: torch.Tensor, n):
    weight = weight.cuda()
    start = time.time()
    for i in range(n):
        drawn = torch.distributions.Categorical(logits=weight @ weight).sample()
    print(time.time() - start, drawn)
""",
    "a time in a list that nobody reads": """
def measure(n):
    x = torch.rand(512, 512, device="cuda")
    times, total = [], 0
    for _ in range(n):
        start = time.time()
        y = x @ x
        took = time.time() - start
        times.append(1000 * took)
        total += took
    return y
""",
    "a time that is printed nowhere": """
def measure(verbose):
    x = torch.rand(512, 512, device="cuda")
    took = time.time()
    y = x @ x
    took = time.time() - took
    if verbose and False:
        print(took)
    if not True:
        print(f"took {took}")
""",
    "an index on the host, which is copied first": """
def measure(rows: list[int]):
    x = torch.rand(512, 512, device="cuda")
    pairs = torch.triu_indices(3, 3, offset=1)
    chosen = np.arange(3)
    start = time.time()
    y = (x @ x)[pairs[0], pairs[1]]
    middle = time.time()
    z = (x @ x)[chosen]
    late = time.time()
    x[[0, 2]] = (x @ x)[0]
    print(middle - start, late - middle, time.time() - late, y, z)
""",
    "an index that may be a mask": """
def measure(rows):
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = (x @ x)[rows].mean()
    print(time.time() - start, y)
""",
    "data copied to the accelerator, and light work": """
def measure(rows):
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = x @ x
    kinds = torch.as_tensor(rows, device="cuda")
    chosen = nn.functional.one_hot(kinds.long(), 3)
    top = torch.stack([y, y]).relu().topk(3)
    print(time.time() - start, chosen, top)
""",
    "steps whose data is copied one after the other": """
def epoch(batches):
    model = nn.Linear(3, 1).cuda()
    start = time.time()
    for batch in batches:
        model(torch.tensor(batch, device="cuda")).sum().backward()
    print(time.time() - start)
""",
    "a helper that waits": """
def now():
    torch.cuda.synchronize()
    return time.time()

def measure():
    x = torch.rand(512, 512, device="cuda")
    start = now()
    y = x @ x
    print(now() - start)
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(IMPORTS + source, "DEV501")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(IMPORTS + source, "DEV501")


def test_the_finding_tells_what_is_still_running() -> None:
    source = """
def measure():
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = x @ x
    print(time.time() - start)  # DEV501
"""
    (found,) = check(IMPORTS + source, "DEV501")
    assert found.message == "the clock is read while `x @ x` may still be running on the accelerator"
    assert found.help == "call `torch.cuda.synchronize()` before both readings of the clock, this one and the first"
    assert [note.region.start.row for note in found.trace] == [10, 11]


def test_the_finding_names_the_outermost_call_between_the_clocks() -> None:
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x):
        return self.inner(x).relu()

def measure():
    net = Net().cuda()
    x = torch.rand(8, 3, device="cuda")
    start = time.time()
    y = net(x)
    print(time.time() - start)  # DEV501
"""
    (found,) = check(IMPORTS + source, "DEV501")
    assert found.message == "the clock is read while `net(x)` may still be running on the accelerator"


SEVERITIES = {
    "a benchmark": (
        """
def measure(net, x, n):
    net = nn.Linear(3, 3).cuda()
    x = torch.rand(8, 3, device="cuda")
    for _ in range(n):
        start = time.time()
        y = net(x)
        print(time.time() - start)  # DEV501
""",
        Severity.WARNING,
    ),
    "a wait behind the clock": (
        """
def train(loader, optimizer):
    net = nn.Linear(3, 3).cuda()
    for _ in range(100):
        start = time.time()
        loss = net(torch.rand(8, 3, device="cuda")).sum()
        loss.backward()
        print(time.time() - start)  # DEV501
        print(loss.item())
""",
        Severity.WARNING,
    ),
    "an interval that waits for the one before": (
        """
def train(optimizer):
    net = nn.Linear(3, 3).cuda()
    for _ in range(100):
        start = time.time()
        x = torch.rand(8, 3).to("cuda")
        loss = net(x).sum()
        loss.backward()
        print(time.time() - start)  # DEV501
""",
        Severity.INFO,
    ),
    "beside a measurement by events": (
        """
def launches(x, n):
    x = torch.rand(512, 512, device="cuda")
    for _ in range(n):
        start = time.time()
        y = x @ x
        print("launched in", time.time() - start)  # DEV501

def whole(x):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    y = x @ x
    end.record()
    end.synchronize()
    print("done in", start.elapsed_time(end))
""",
        Severity.INFO,
    ),
    "beside a time of that name": (
        """
def measure(x, n):
    x = torch.rand(512, 512, device="cuda")
    for _ in range(n):
        start = time.time()
        y = x @ x
        elapsed_time = time.time() - start  # DEV501
        print(elapsed_time)
""",
        Severity.WARNING,
    ),
    "a single run": (
        """
net = nn.Linear(3, 3).cuda()
x = torch.rand(8, 3, device="cuda")
start = time.time()
y = net(x)
print(time.time() - start)  # DEV501
""",
        Severity.WARNING,
    ),
    "a single run of each of two modules, whose time a helper takes": (
        """
def since(start):
    return time.time() - start  # DEV501

if __name__ == "__main__":
    x = torch.rand(8, 3, device="cuda")
    for net in (nn.Linear(3, 3).cuda(), nn.Linear(3, 4).cuda()):
        start = time.time()
        y = net(x)
        print(since(start))
""",
        Severity.INFO,
    ),
    "runs of a function that the main block calls": (
        """
def measure(x, n):
    net = nn.Linear(3, 3).cuda()
    start = time.time()
    y = net(x)
    return time.time() - start  # DEV501

if __name__ == "__main__":
    print(measure(torch.rand(8, 3, device="cuda"), 3))
""",
        Severity.WARNING,
    ),
    "a single run to try a module out": (
        """
if __name__ == "__main__":
    net = nn.Linear(3, 3).cuda()
    x = torch.rand(8, 3, device="cuda")
    start = time.time()
    y = net(x)
    print(time.time() - start)  # DEV501
""",
        Severity.INFO,
    ),
}


@pytest.mark.parametrize(("source", "severity"), SEVERITIES.values(), ids=SEVERITIES)
def test_it_is_an_information_where_the_sum_is_right_or_a_module_is_tried_out(source: str, severity: Severity) -> None:
    (found,) = check(IMPORTS + source, "DEV501")
    assert found.severity is severity


def test_emptying_the_cache_waits() -> None:
    program = """
for _ in range(9):
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = x @ x
    {}
    print(time.time() - start)
"""
    check(IMPORTS + program.format("torch.cuda.empty_cache()"), "DEV501")
    check(IMPORTS + program.format("torch.cuda.memory_allocated()").replace("start)", "start)  # DEV501"), "DEV501")


LAUNCHES = """
# file: work.py
import time

def measure():
    x = torch.rand(512, 512, device="cuda")
    start = time.time()
    y = x @ x
    print(time.time() - start)  # DEV501
# file: main.py
import os
import work

def main():
    {}
    work.measure()
# file: tests/test_main.py
import os
import work

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
"""


@pytest.mark.parametrize(
    "statement",
    [
        'os.environ["CUDA_LAUNCH_BLOCKING"] = "1"',
        'os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")',
        'os.environ.update({"CUDA_LAUNCH_BLOCKING": "1"})',
        'os.environ.update(CUDA_LAUNCH_BLOCKING="1")',
    ],
)
def test_a_program_may_make_launches_wait(statement: str, tmp_path: Path) -> None:
    check(LAUNCHES.replace("  # DEV501", "").replace("{}", statement), "DEV501", tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        'os.environ["CUDA_LAUNCH_BLOCKING"] = "0"',
        '# os.environ["CUDA_LAUNCH_BLOCKING"] = "1"',
        'print(os.environ.get("CUDA_LAUNCH_BLOCKING", "1"))',
        'print("set CUDA_LAUNCH_BLOCKING=1 to see where an error comes from")',
    ],
)
def test_a_program_that_only_speaks_of_it_makes_no_launch_wait(statement: str, tmp_path: Path) -> None:
    check(LAUNCHES.replace("{}", statement), "DEV501", tmp_path)
