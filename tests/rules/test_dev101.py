"""Operations whose tensors lie on two devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "an inner function reads what an earlier round of a loop has bound": """
def run(rounds: int):
    held = None

    def use(other):
        if held is not None:
            print(held + other)  # DEV101

    for _ in range(rounds):
        use(torch.ones(3, device="cuda"))
        held = torch.ones(3)
""",
    "an inner function reads what it has bound in an earlier round of a loop": """
def run(rounds: int):
    held = None

    def use(other):
        nonlocal held
        if held is not None:
            print(held + other)
        held = torch.ones(3)  # DEV105

    for _ in range(rounds):
        use(torch.ones(3, device="cuda"))
""",
    "a grid over two devices": """
print(torch.meshgrid(torch.arange(3), torch.arange(4, device="cuda"), indexing="ij"))  # DEV101
""",
    "a tensor of a checkpoint, kept on the host by name": """
class Normalizer:
    def __init__(self, mean, std, device="cpu"):
        self.mean = torch.as_tensor(mean, device=device)
        self.std = torch.as_tensor(std, device=device)

    def norm(self, x):
        return (x - self.mean) / self.std  # DEV101 DEV101

state = torch.load("last.pt", map_location="cpu")
normalizer = Normalizer(state["mean"], state["std"])
normalizer.norm(torch.rand(8, 3, device="cuda"))
""",
    "operator": """
x = torch.ones(3).cuda()
y = torch.ones(3)
z = x + y  # DEV101
""",
    "conditional device": """
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(3).to(device)
y = torch.ones(3) * x  # DEV101
""",
    "device from arguments": """
def main(args):
    device = torch.device("cuda" if args.cuda else "cpu")
    x = torch.ones(3, device=device)
    return x - torch.ones(3)  # DEV101
""",
    "branch moves only one": """
x, y = torch.ones(3), torch.ones(3)
if torch.cuda.is_available():
    x = x.cuda()
z = x @ y  # DEV101
""",
    "two accelerators": """
a = torch.ones(3).cuda()
b = torch.ones(3).cuda(1)
c = a * b  # DEV101
d = torch.ones(3, device="cuda:0") + torch.ones(3, device="cuda:1")  # DEV101
""",
    "caught": """
a, b = torch.ones(3), torch.ones(3, device="cuda")
try:
    print(a + b)  # DEV101
except RuntimeError as error:
    print(error)
""",
    "sequences": """
x = torch.ones(3, device="cuda")
y = torch.cat([x, torch.ones(3)])  # DEV101
z = torch.stack((torch.ones(3), x), dim=0)  # DEV101
""",
    "where": """
x = torch.ones(3, device="cuda")
y = torch.where(x > 0, x, torch.zeros(3))  # DEV101
""",
    "in place": """
total = torch.zeros(3)
for _ in range(2):
    total += torch.ones(3, device="cuda")  # DEV101
""",
    "method": """
x = torch.ones(3, 3, device="cuda")
y = x.matmul(torch.ones(3, 3))  # DEV101
""",
    "functional": """
x = torch.ones(3, 3, device="cuda")
y = F.linear(x, torch.ones(2, 3))  # DEV101
""",
    "through functions": """
def make(n):
    return torch.ones(n)

def move(x):
    return x.cuda()

x = make(3)
print(move(x) + x)  # DEV101
""",
    "brought to the host too early": """
x = torch.ones(3, device="cuda")
y = x.cpu()
print((x - y).abs().max())  # DEV101
""",
    "a mask from the host": """
scores = torch.randn(4, 4, device="cuda")
causal = torch.tril(torch.ones(4, 4)).bool()
scores = scores.masked_fill(~causal, float("-inf"))  # DEV101
""",
    "a dict of tensors": """
batch = {"x": torch.ones(3).cuda(), "y": torch.ones(3)}
loss = F.mse_loss(batch["x"], batch["y"])  # DEV101
""",
    "target of a loss": """
def train(loader):
    model = nn.Linear(8, 2).cuda()
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cpu())  # DEV101
        loss.backward()
""",
    "loader's target": """
from torch.utils.data import DataLoader

def train(dataset):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(8, 2).to(device)
    for x, y in DataLoader(dataset):
        loss = F.cross_entropy(model(x.to(device)), y)  # DEV101
""",
    "dataclass": """
from dataclasses import dataclass

@dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor

batch = Batch(torch.ones(3).cuda(), torch.ones(3))
print(batch.x * batch.y)  # DEV101
""",
    "comprehension": """
xs = [torch.ones(3).cuda() for _ in range(3)]
y = torch.ones(3)
zs = [x * y for x in xs]  # DEV101
""",
    "walrus, lambda and ternary": """
y = torch.ones(3)
add = lambda x: x + y  # DEV101
z = add(w := torch.ones(3).cuda())
""",
    "two files": """
# file: data.py
def make():
    return torch.ones(3)
# file: main.py
from data import make

x = make() + torch.ones(3, device="cuda")  # DEV101
""",
    "a flag that asks for the accelerator, in a loop that calls methods of the object that has the device": """
def choose(use_cuda):
    return torch.device("cuda" if torch.cuda.is_available() and use_cuda else "cpu")

class Client:
    def __init__(self, model, use_cuda):
        self.device = choose(use_cuda)
        self.model = model
        self.model.to(self.device)

    def fit(self, loader):
        self.model.train()
        for x, y in loader:
            x = x.to(self.device)
            F.cross_entropy(self.model(x), y).backward()  # DEV101
            self.report(x)
""",
    "targets of a batch that the loop has not moved, whatever their loss computes": """
def fit(model, loader, device):
    criterion = nn.MSELoss()
    model.to(device)
    model.train()
    for batch in loader:
        x = batch["x"].to(device)
        criterion(model(x), batch["y"].float()).backward()  # DEV101

def check(model, loader):
    model.cuda()
    model.eval()
    for x, y, other in loader:
        prediction, _ = model(x.cuda())
        F.binary_cross_entropy_with_logits(prediction, y)  # DEV101
""",
}

GOOD = {
    "a number of the batch, which a function of the program may collate, and targets that were moved": """
def fit(model, loader, device):
    criterion = nn.MSELoss()
    model.to(device)
    model.train()
    for batch in loader:
        x, y = batch["x"].to(device), batch["y"].to(device)
        loss = criterion(model(x), y.float()) / batch["count"]
        (loss * batch["weight"]).backward()
""",
    "a device that the loop changes": """
class Client:
    def __init__(self, model, device):
        self.device = device
        self.model = model
        self.model.to(self.device)

    def fit(self, loader):
        for x, y in loader:
            self.device = self.next_device()
            x = x.to(self.device)
            F.cross_entropy(x, y)
""",
    "targets beside the output of a model on the host": """
def fit(model, loader):
    model.cpu()
    model.train()
    for x, y in loader:
        F.mse_loss(model(x.cpu()), y).backward()
""",
    "a grid on one device": """
print(torch.meshgrid(torch.arange(3, device="cuda"), torch.arange(4, device="cuda"), indexing="ij"))
print(torch.broadcast_tensors(torch.arange(4), torch.arange(4, device="cuda")))
""",
    "tensors of a checkpoint that may be 0-dim, or that are moved": """
class Normalizer:
    def __init__(self, mean, std, device="cpu"):
        self.mean = torch.as_tensor(mean, device=device)
        self.std = torch.as_tensor(std, device=device)

    def norm(self, x):
        return (x - self.mean) / self.std

device = torch.device("cuda")
state = torch.load("last.pt", map_location="cpu")
normalizer = Normalizer(state["mean"], state["std"], device=device)
x = normalizer.norm(torch.rand(8, 3, device=device))
x = x * state["scale"] * torch.as_tensor(state["scale"], device="cpu").mean()
x = x * torch.as_tensor(state["scale"], device="cpu").to(x.device)
""",
    "what a function is given, which may be 0-dim": """
def scaled(x: torch.Tensor, scale: torch.Tensor, factor):
    return x.cuda() * scale * torch.as_tensor(factor)
""",
    "moved in between": """
x = torch.ones(3).cuda()
y = torch.ones(3)
print(x + y.cuda(), x.cpu() + y, x + y.to(x.device), x + y.to(x), x + y.type_as(x))
""",
    "0-dim host tensor": """
x = torch.ones(3, device="cuda")
print(x * torch.tensor(2.0), x / torch.tensor(3), x + torch.ones(3).sum(), torch.tensor(1.0) - x)
x += torch.tensor(1)
""",
    "copy": """
x = torch.ones(3, device="cuda")
y = torch.ones(3)
x.copy_(y)
y.copy_(x)
x[0] = torch.tensor(1.0)
x[:2] = torch.zeros(2)
""",
    "two choices on one condition": """
x = torch.ones(3, device="cuda" if torch.cuda.is_available() else "cpu")
y = torch.ones(3)
if torch.cuda.is_available():
    y = y.cuda()
print(x + y)
""",
    "two choices on one argument": """
def main(args):
    device = torch.device("cuda" if args.cuda else "cpu")
    x = torch.ones(3, device=device)
    y = torch.ones(3)
    if args.cuda:
        y = y.cuda()
    return x + y
""",
    "made like another": """
x = torch.ones(3, device="cuda")
print(x + torch.zeros_like(x), x + x.new_ones(3), x + torch.empty_like(x).normal_(), x + torch.rand_like(x))
""",
    "the current device": """
x = torch.ones(3, device="cuda") + torch.ones(3, device="cuda:0")
torch.cuda.set_device(1)
y = torch.ones(3, device="cuda") + torch.ones(3, device="cuda:1")
""",
    "a device for all": """
torch.set_default_device("cuda")
x = torch.ones(3) + torch.ones(3, device="cuda")
""",
    "a device for a block": """
with torch.device("cuda"):
    y = torch.ones(3)
x = y + torch.ones(3, device="cuda")
""",
    "asked first": """
def add(x, y):
    x = x.cuda()
    if y.device != x.device:
        y = y.to(x.device)
    return x + y

add(torch.ones(3), torch.ones(3))
""",
    "asked with is_cuda": """
x = torch.ones(3)
y = torch.ones(3).cuda()
if x.is_cuda:
    print(x + y)
""",
    "moved in a comprehension": """
xs = [torch.ones(3) for _ in range(3)]
y = torch.ones(3, device="cuda")
xs = [x.to(y.device) for x in xs]
print(torch.stack(xs) + y)
batch = {key: value.cuda() for key, value in {"a": torch.ones(3)}.items()}
print(batch["a"] + y)
""",
    "host index into an accelerator tensor": """
x = torch.ones(8, device="cuda")
print(x[torch.tensor([1, 2])], x[torch.ones(8).bool()])
""",
    "a parameter of an inner function, with a name that a loop binds": """
def run(rounds: int):
    held = None

    def use(other, held=None):
        if held is not None:
            print(held + other)

    for _ in range(rounds):
        use(torch.ones(3, device="cuda"))
        held = torch.ones(3)
    return held
""",
    "each loop round anew": """
def run(devices):
    for device in devices:
        x = torch.ones(3, device=device)
        print(x + torch.ones(3, device=device))
""",
    "numpy on the host": """
x = torch.ones(3, device="cuda").cpu().numpy()
y = torch.from_numpy(x) + torch.ones(3)
""",
    "meta": """
x = torch.ones(3, device="meta") + torch.ones(3)
""",
    "Python numbers": """
x = torch.ones(3, device="cuda")
scale = torch.ones(3).mean().item()
print(x * scale, x / len(torch.ones(3)), x + int(torch.ones(3).sum()))
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_the_message_stands_alone_and_the_story_says_since_when() -> None:
    (finding,) = check(
        """
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(3).to(device)
mask = torch.ones(3)
y = mask * x  # DEV101
""",
        "DEV1",
    )
    condition = "when `torch.cuda.is_available()`"
    assert finding.message == f"`mask` is on cpu but `x` is on cuda: they cannot be combined in `*` {condition}"
    assert finding.help == "move it with `mask.to(x.device)`, or create it there"
    assert finding.confidence.value == "certain"
    told = [(note.region.start.row, note.message) for note in finding.trace]
    assert told == [
        (8, "`mask` created on the host by `torch.ones`, which was given no device"),
        (7, "`x` moved to cuda by `.to()`"),
    ]


def test_two_known_devices_are_certain() -> None:
    (finding,) = check("print(torch.ones(3) + torch.ones(3).cuda())  # DEV101", "DEV1")
    assert finding.confidence.value == "certain"
    text = "print(torch.ones(3) + torch.ones(3).cuda())"
    assert text[finding.region.start.column - 1 : finding.region.end.column - 1] == text[6:-1]


def test_the_same_pair_is_reported_once() -> None:
    check(
        """
x, y = torch.ones(3), torch.ones(3).cuda()
a = x + y  # DEV101
b = x - y
c = y * x
""",
        "DEV1",
    )


def test_a_list_on_two_devices_is_named_once() -> None:
    (finding,) = check(
        """
parts = [torch.ones(3), torch.ones(3).cuda()]
whole = torch.cat(parts)  # DEV101
""",
        "DEV1",
    )
    assert finding.message == "`parts` holds tensors on cpu and on cuda: they cannot be combined in `torch.cat`"


def test_what_is_written_to_is_made_on_the_other_device_and_not_moved_on_the_way() -> None:
    program = """
x = torch.rand(3, device="cuda")
total = torch.zeros(3){moved}
total {operator} x  # DEV101
"""
    (finding,) = check(program.format(operator="+=", moved=""), "DEV101")
    assert finding.help == "create `total` there, with `device=x.device`"
    (finding,) = check(program.format(operator="+=", moved=".cuda().cpu()"), "DEV101")
    assert finding.help == "move it before: `total.to(x.device)`"
    (finding,) = check(program.format(operator="*", moved=""), "DEV101")
    assert finding.help == "move it with `total.to(x.device)`, or create it there"
