"""Cost rules speak where a cost is paid again and again, and is not small; elsewhere they are information."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.diagnostic import Severity

from .programs import EXPECTED, PRELUDE, family, lint

PROGRAMS = {
    "what is made and then moved": """
def train(batches, device, n: int, m: int):
    for batch in batches:
        print(torch.randn(512, 512).to(device))  # DEV406
        print(torch.zeros(n, 262_144).to(device))  # DEV406
        print(torch.zeros(batch.shape).to(device), torch.randn(n, n, m).to(device), torch.zeros(128, 128).to(device))
        print(torch.zeros(n, m).to(device), torch.zeros(n, 1, m).to(device))
        print(torch.zeros(n, 4, 4).to(device), torch.zeros(1, n, m, 2).to(device))
        print(torch.zeros(n, 1, 3).to(device), torch.arange(n).to(device), torch.zeros(64, 64).to(device))
""",
    "what is made many times in one step": """
class Layer(nn.Module):
    def forward(self, x: torch.Tensor):
        x = x + torch.ones(x.shape).to(x.device)
        return x + torch.ones(x.size(0), x.size(1), x.size(2)).to(x.device)  # DEV406

class Net(nn.Module):
    def __init__(self, depth: int):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(depth))

    def forward(self, x: torch.Tensor, steps: int, k: int):
        x = x + torch.ones(x.shape).to(x.device)
        for layer in self.layers:
            x = layer(x)
        for step in range(steps):
            x = x + torch.ones(x.size(0), x.size(1), k).to(x.device) + torch.ones(k, steps).to(x.device)  # DEV406
        for scale in (1, 2):
            x = x + torch.ones(x.size(0), x.size(1), k).to(x.device)
        for layer in self.layers:
            x = x + torch.zeros(k, steps, k).to(x.device)  # DEV406
            x = x + torch.zeros(k, 4, 4).to(x.device) + torch.zeros(1, steps, k, 2).to(x.device)
            x = x + torch.zeros(k, 512, 64).to(x.device)  # DEV406
            out = torch.zeros(steps, k, k)
            if x.is_cuda:
                out = out.to(x.device)
            for step in range(steps):
                out[step] = x
        return x

def train(model, loader: torch.utils.data.DataLoader, optimizer, epochs: int, n: int, m: int):
    for epoch in range(epochs):
        for batch in loader:
            noise = torch.rand(n, n, m).to("cuda")
            for step in range(n):
                noise = noise + torch.rand(n, n, m).to("cuda")  # DEV406
            model(batch, noise).sum().backward()

def fit(model, batches, steps: int, n: int, m: int):
    for epoch in range(steps):
        for number in range(steps):
            loss = model(batches[number], torch.rand(n, n, m).to("cuda"))
            loss.sum().backward()
""",
    "in what runs for every batch": """
class Net(nn.Module):
    def __init__(self, n: int, m: int):
        super().__init__()
        self.noise = torch.rand(512, 512).to("cuda")

    def forward(self, x: torch.Tensor):
        mask = torch.ones(512, 512).to(x.device)  # DEV406
        return self.scaled(x) * mask

    def scaled(self, x: torch.Tensor):
        x = x * torch.eye(x.size(0)).to(x.device) * torch.ones(x.shape).to(x.device)
        return x * torch.ones(512, 512).to(x.device)  # DEV406

def make(n: int, m: int):
    return torch.rand(512, 512).to("cuda")
""",
    "what is made until it is kept, and moved after that": """
class Attention(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.n, self.keys, self.values, self.marks = n, None, None, None

    def forward(self, x: torch.Tensor):
        if self.keys is None:
            delattr(self, "keys")
            self.register_buffer(name="keys", tensor=torch.zeros(x.shape[0], self.n, 512, 512))
        if self.values is None:
            self.values = torch.zeros(x.shape[0], self.n, 512, 512)
        if self.marks is None:
            marks = torch.zeros(x.shape[0], self.n, 512, 512)
        self.keys = self.keys.to(x)
        self.values = self.values.to(x)
        return x + self.keys + self.values + marks.to(x)  # DEV406
""",
    "what is kept": """
TABLES = {}

class Net(nn.Module):
    def forward(self, x: torch.Tensor, n: int, m: int):
        if self.mask is None:
            self.mask = torch.ones(512, 512).to(x.device)
        mask = TABLES.get(n)
        if mask is None:
            mask = torch.ones(512, 512).to(x.device)
            TABLES[n] = mask
        return x * mask * self.mask * self.table(x, n, m) * self.tried(x, n, m)

    def table(self, x: torch.Tensor, n: int, m: int):
        if (n, m) in TABLES:
            return TABLES[n, m]
        TABLES[n, m] = torch.ones(512, 512).to(x.device)
        return TABLES[n, m]

    def tried(self, x: torch.Tensor, n: int, m: int):
        try:
            return TABLES[n, m]
        except KeyError:
            TABLES[n, m] = torch.ones(512, 512).to(x.device)
        return TABLES[n, m]

def train(batches, n: int, m: int):
    noise = None
    for number, batch in enumerate(batches):
        if noise is None:
            noise = torch.rand(512, 512).to("cuda")
        if number == 0:
            print(torch.rand(512, 512).to("cuda"))
""",
    "what the next iteration makes again": """
def train(batches, n: int, m: int):
    for batch in batches:
        noise = None
        if noise is None:
            noise = torch.rand(512, 512).to("cuda")  # DEV406
        print(noise)
""",
    "what is done on the host for a reason": """
def smooth(x: torch.Tensor, batches):
    x = x.cuda()
    for batch in batches:
        # Sorting is faster on the CPU.
        h = x.cpu() * 0.9
        x = h.cuda()
    for batch in batches:
        h = x.cpu() * 0.9
        x = h.cuda()  # on the cpu to save memory
    for batch in batches:
        # The state of the CPU.
        h = x.cpu() * 0.9
        x = h.cuda()  # DEV401
    return x
""",
    "beside a loop that trains": """
def fit(model, poses, batches):
    for pose in poses:
        pose = pose.cuda()
        h = pose.cpu() * 0.9
        print((h.cuda()).sum(), torch.randn(512, 512).to("cuda"))
    for batch in batches:
        loss = model(batch, torch.randn(512, 512).to("cuda"))  # DEV406
        loss.backward()
""",
    "in loops that only count": """
def masks(n: int, cams):
    ready = [torch.randn(1, 3, 640, 640).to("cuda") for _ in range(100)]
    for i in range(len(cams)):
        ready.append(torch.zeros(512, 512).to("cuda"))
    for cam in cams:
        ready.append(torch.zeros(512, 512).to("cuda"))  # DEV406
    for cam in cams:
        for i in range(n):
            ready.append(torch.zeros(512, 512).to("cuda"))  # DEV406
    return ready
""",
    "a volume that is made once in a step": """
class Cell(nn.Module):
    def forward(self, x: torch.Tensor, hidden: int):
        state = torch.zeros(x.size(0), hidden, x.size(2), x.size(3)).to(x.device)
        mask = torch.zeros(x.size(0), 1, x.size(2), x.size(3)).to(x.device)
        return x * state * mask
""",
    "now and then, and for a person": """
def noise(n: int, m: int):
    return torch.randn(512, 512).to("cuda")  # DEV406

def picture(n: int, m: int):
    return torch.rand(512, 512).to("cuda")

def second(model, n: int, m: int):
    model(torch.randn(512, 512).to("cuda")).sum().backward()  # DEV406

def train(model, batches, n: int, m: int):
    for step, batch in enumerate(batches):
        model(noise(n, m)).sum().backward()
        if step % 100 == 0:
            print(model(picture(n, m)))
        if step % 5 == 0:
            second(model, n, m)

def answer(n: int, m: int):
    return torch.rand(512, 512).to("cuda")

def serve(model, n: int, m: int):
    while True:
        print(input("> "), model(answer(n, m)))
""",
    "a set-up and a test": """
def build_masks(names, n: int, m: int):
    return [torch.ones(512, 512).to("cuda") for name in names]

@torch.no_grad()
def main(names, n: int, m: int):
    print(build_masks(names, n, m), torch.ones(512, 512).to("cuda"))
""",
    "tests by their names, and evaluations": """
def test_noise():
    sizes = [torch.rand(1).item() for _ in range(10)]
    for size in iter(sizes):
        print(torch.rand(600, 600).to("cuda"))

def test_model(model, loader):
    for batch in loader:
        print(model(batch, torch.rand(600, 600).to("cuda")))  # DEV406

LOADER = torch.utils.data.DataLoader([1, 2])

def test_all():
    for batch in LOADER:
        print(batch, torch.rand(600, 600).to("cuda"))  # DEV406

if __name__ == "__main__":
    test_all()
""",
    "copied twice, and moved to where it is": """
def run(batches, device):
    x = torch.rand(600, 600)
    for number, batch in enumerate(batches):
        print(x[number : number + 8].cuda(0).to("cuda:1"))  # DEV407
        print(batch.cuda().to(device))
    y = torch.rand(600, 600).cuda(0).to("cuda:1")
    return y.to("cuda:1")
""",
    "the same tensor in every iteration": """
def run(batches, n: int, m: int):
    table, scale = torch.rand(n, n, m), torch.rand(n)
    for batch in batches:
        (batch @ table.cuda() * scale.cuda()).sum().backward()  # DEV402
    for batch in batches:
        print(batch @ table.cuda())
    for name in ("a", "b"):
        print(name, table.cuda())

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.rand(600, 600)

    def forward(self, x: torch.Tensor, steps: int):
        for step in range(steps):
            x = x @ self.table.cuda()  # DEV402
        return x

def searched(model, data):
    for batch in torch.utils.data.DataLoader(data):
        for width in (1, 2, 4):
            print(model(batch["image"].cuda(), width))

def searched_in_training(model, data):
    for image, label in torch.utils.data.DataLoader(data):
        loss = 0
        for width in (1, 2, 4):
            found = model(image.cuda(), width)  # DEV402
            loss = loss + F.cross_entropy(found, label.cuda())
        loss.backward()
""",
    "numbers and vectors": """
def run(batches, n: int, m: int):
    share = torch.FloatTensor(3).softmax(dim=0)
    rows, names = torch.FloatTensor(n, m).softmax(dim=0), torch.LongTensor([1, 2, 3]) * 2
    long = torch.rand(500_000)
    for batch in batches:
        loss = batch * share[0].cuda() + share.cuda() + names.cuda()
        loss = loss * rows.cuda()
        (loss * long.cuda()).sum().backward()  # DEV402
""",
    "what serves a loop in a function that the loop calls": """
def kept(model, table: torch.Tensor, times, device):
    table = table.to(device)
    for time in times:
        x = model(table[time])
    return x

def scaled(model, table: torch.Tensor, times, device):
    table = table.to(device)
    for scale in (1, 2):
        x = model(table * scale)
    for time in times:
        x = model(time)
    return x

def run(model, times, items):
    table = torch.rand(600, 600)
    for item in items:
        print(kept(model, table, times, "cuda"))
        print(scaled(model, table, times, "cuda"))
        x = torch.randn(600, 600).to("cuda")
        for _ in range(50):
            model(x)
        y = torch.randn(600, 600).to("cuda")  # DEV406
        for _ in range(2):
            model(y)

def serve(requests, model, times):
    table = torch.rand(600, 600)
    for request in requests:
        model(request, scaled(model, table, times, "cuda")).sum().backward()  # DEV402

def fitted(model, batches, names):
    for batch in batches:
        x = torch.randn(600, 600).to("cuda")  # DEV406
        for name in names:
            batch = model(batch, x[name])
        batch.sum().backward()

def trained(model, data, names):
    for batch in torch.utils.data.DataLoader(data):
        x = torch.randn(600, 600).to("cuda")  # DEV406
        for name in names:
            model(batch, x[name])
""",
    "loops whose numbers of iterations the source gives": """
def noisy():
    table = torch.rand(600, 600)
    for step in range(100):
        print(table.to("cuda") @ step, torch.rand(600, 600).to("cuda"))

def trained(model, data, unknown: torch.Tensor):
    table = torch.rand(600, 600)
    for epoch in range(100):
        for batch in data:
            (model(batch) @ table.to("cuda")).sum().backward()  # DEV402
            print(unknown.to("cuda"))
    for epoch in range(0, 10, 0):
        model(table.to("cuda")).sum().backward()  # DEV402
    for epoch in range(1, 10_000):
        (model(data) @ table.to("cuda")).sum().backward()  # DEV402

def serve(requests):
    for request in requests:
        for step in range(10):
            print(request, torch.rand(600, 600).to("cuda"))  # DEV406
""",
    "beside files": """
def run(model, paths, batches):
    table = torch.rand(600, 600)
    x = torch.rand(300, 300, device="cuda")
    for path in paths:
        print(np.load(path), table.cuda(), torch.randn(600, 600).to("cuda"), x.cpu().to("cuda"))
    for path in paths:
        with open(path) as file:
            print(file.read(), table.cuda())
    for number, batch in enumerate(batches):
        (table.cuda() @ batch).sum().backward()  # DEV402
        if number % 100 == 0:
            torch.save(batch, paths[number])
    for batch in batches:
        (table.cuda() @ batch).sum().backward()  # DEV402
        print([np.load(path) for path in ("a", "b")] if batch is None else 0)
""",
    "round trips": """
def run(batches):
    x = torch.rand(300, 300, device="cuda")
    for batch in batches:
        host = x.cpu()
        y = host.to("cuda")  # DEV401
        z = torch.from_numpy(batch.detach().cpu().numpy())
        free = torch.from_numpy(batch.numpy())
        print(torch.tensor(x))
    for name in ("a", "b"):
        host = x.cpu()
        y = host.to("cuda")
    return torch.from_numpy(x.cpu().numpy())

class Scorer:
    def inference(self, model, loader: torch.utils.data.DataLoader):
        found = []
        for x, y in loader:
            x, y = x.cuda(), y.cuda()
            found.append((model(x).cpu(), y.cpu()))
        return found

def scored(model, loader: torch.utils.data.DataLoader, optimizer):
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        print(model(x).cpu(), y.cpu())
    for x, y in loader:
        x, y = x.cuda(), y.cuda()  # DEV401
        model(x).sum().backward()
        print(y.cpu())  # DEV403
""",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_warned_of_where_it_matters(source: str) -> None:
    source = PRELUDE + source
    found = lint(source, family("DEV4"))
    warned = {(one.region.start.row, one.code) for one in found if one.severity is not Severity.INFO}
    rows = enumerate(source.splitlines(), 1)
    assert warned == {(row, match[1].strip()) for row, line in rows if (match := EXPECTED.search(line))}


@pytest.mark.parametrize(("folder", "warned"), [("tests", False), ("test", False), ("models", True)])
def test_code_in_a_folder_of_tests_is_not_hot(folder: str, warned: bool, tmp_path: Path) -> None:
    loop = "def run(batches):\n    for batch in batches:\n        print(batch, torch.rand(600, 600).cuda())\n"
    (found,) = lint(f"# file: {folder}/noise.py\n{PRELUDE}{loop}", frozenset({"DEV406"}), tmp_path)
    assert (found.severity is not Severity.INFO) is warned


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("torch.randn(n, m, 4).to(device)", "`device` in every iteration ([n, m, 4] float32)"),
        ("torch.empty(n, m, dtype=torch.half).to('cuda')", "cuda in every iteration ([n, m] float16)"),
        ("torch.zeros(batch.shape).to('cuda')", "cuda in every iteration"),
    ],
)
def test_the_message_tells_how_much_and_how_often(line: str, said: str) -> None:
    source = f"def run(batches, device, n: int, m: int):\n    for batch in batches:\n        print({line})\n"
    (found,) = lint(PRELUDE + source, frozenset({"DEV406"}))
    assert found.message == f"`{line.rpartition('.to')[0]}` is made on the host and then copied to {said}"


def test_the_message_tells_of_batches_and_functions() -> None:
    source = """
from torch.utils.data import DataLoader

def run(data, n: int, m: int):
    for batch in DataLoader(data):
        print(torch.rand(n, n, m).cuda())

class Net(nn.Module):
    def forward(self, x, n: int, m: int):
        return x + torch.rand(n, n, m).cuda()
"""
    first, second = lint(PRELUDE + source, frozenset({"DEV406"}))
    assert first.message.endswith("copied to cuda for every batch ([n, n, m] float32)")
    assert second.message.endswith("copied to cuda in every call of `forward` ([n, n, m] float32)")
