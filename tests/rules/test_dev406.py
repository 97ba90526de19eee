"""Tensors created on the host only to be moved."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "in another form": """
def masks(n: int, x: torch.Tensor):
    causal = torch.triu(torch.ones(n, n), diagonal=1).to(x.device)  # DEV406
    places = torch.arange(n).unsqueeze(0).to(x.device)  # DEV406
    return causal, places
""",
    "in one expression": """
a = torch.zeros(3).to("cuda")  # DEV406
b = torch.randn(16, 3).cuda()  # DEV406
c = torch.arange(10).to(device="cuda", dtype=torch.float32)  # DEV406
""",
    "in two statements": """
noise = torch.randn(16, 3)
noise = noise.to("cuda")  # DEV406
""",
    "when there is an accelerator": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
mask = torch.ones(3, dtype=torch.bool).to(device)  # DEV406
""",
    "on the device of the caller's choice": """
def sample(model, n, device):
    x = torch.randn(n, 3).to(device)  # DEV406
    return model(x)
""",
    "on the device of a tensor at hand": """
def positions(x: torch.Tensor):
    return x + torch.arange(x.shape[0]).to(x.device)  # DEV406
""",
    "NumPy's random numbers": """
class Noise(nn.Module):
    def forward(self, x: torch.Tensor):
        host = np.random.standard_normal(x.shape).astype(np.float32)
        return x + torch.from_numpy(host).to(x.device)  # DEV406
""",
    "NumPy's random numbers, handed over": """
def noise(x: torch.Tensor):
    return x + torch.tensor(np.random.rand(3), device=x.device)  # DEV406
""",
    "in each iteration": """
for _ in range(3):
    z = torch.randn(8, 3).cuda()  # DEV406
""",
    "NumPy's random numbers in each iteration": """
def train(n, device):
    for _ in range(n):
        z = np.random.randn(64, 100)
        z = torch.from_numpy(z).float().to(device)  # DEV406
""",
    "cast on the way": """
x = torch.eye(3).half().cuda()  # DEV406
""",
    "the original is used as well": """
x = torch.ones(3)
y = x.to("cuda")  # DEV406
print(torch.equal(y.cpu(), x))
""",
}

GOOD = {
    "another form of what has a name": """
def grid(n: int, x: torch.Tensor):
    steps = torch.arange(n)
    print(steps.tolist())
    return steps.unsqueeze(0).to(x.device)
""",
    "drawn from a generator of NumPy's": """
class Sampler:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def noise(self, x: torch.Tensor):
        return torch.as_tensor(self.rng.normal(size=x.shape), dtype=x.dtype, device=x.device)
""",
    "a generator that is on the host": """
def noise(device, generator=None):
    return torch.randn(3, generator=generator).to(device)

noise("cuda", torch.Generator().manual_seed(0))
""",
    "created there": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
a = torch.zeros(3, device=device)
b = torch.randn(3, device="cuda")
c = torch.zeros_like(b)
d = b.new_zeros(3)
""",
    "made from data of the host": """
a = torch.tensor([1, 2, 3]).to("cuda")
b = torch.from_numpy(np.load("x.npy")).to("cuda")
c = torch.tensor(np.loadtxt("y.csv"), device="cuda")
d = torch.load("z.pt", map_location="cpu").to("cuda")
""",
    "changed before it moves": """
mask = torch.zeros(8)
mask[3] = 1
mask = mask.to("cuda")
x = torch.randn(3)
x += 1
x = x.to("cuda")
""",
    "computed before it moves": """
x = (torch.randn(3) * 2 + 1).to("cuda")
""",
    "an array that stands for data": """
x = torch.from_numpy(np.random.rand(8, 3)).float().to("cuda")
y = torch.tensor(np.zeros(8), device="cuda")
""",
    "an array that the host keeps as well": """
def play(net, kept, n, device):
    for _ in range(n):
        state = np.random.rand(4)
        kept.append(state)
        net(torch.from_numpy(state).float().to(device))
""",
    "stays on the host": """
x = torch.zeros(3).to("cpu")
y = torch.zeros(3).cpu().float()
""",
    "pinned": """
x = torch.zeros(3).pin_memory().to("cuda", non_blocking=True)
y = torch.zeros(3, pin_memory=True).to("cuda", non_blocking=True)
""",
    "created elsewhere": """
def make():
    return torch.randn(3)

x = make().to("cuda")

def use(x: torch.Tensor):
    return x.to("cuda")

use(torch.zeros(3))
""",
    "one host tensor for several devices": """
x = torch.randn(3)
for device in ("cuda:0", "cuda:1"):
    print(x.to(device))
""",
    "a leaf that no longer is one, which another rule tells of": """
w = torch.randn(3, requires_grad=True).to("cuda")
""",
    "a module": """
model = nn.Linear(3, 3).to("cuda")
""",
    "with the default device": """
with torch.device("cuda"):
    x = torch.zeros(3).to("cuda")
""",
    "filled in place before it moves": """
table = torch.zeros(3)
table.scatter_(0, torch.tensor([1]), 1.0)
table = table.cuda()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV406")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV406")


def test_the_advice_warns_of_other_random_numbers() -> None:
    random, plain = check("a = torch.rand(3).cuda()  # DEV406\nb = torch.ones(3).cuda()  # DEV406\n", "DEV406")
    assert random.message == "`torch.rand(3)` is made on the host and then copied to cuda ([3] float32)"
    assert random.help == 'create it there: pass `device="cuda"` to `torch.rand` (it then draws other random numbers)'
    assert plain.help == 'create it there: pass `device="cuda"` to `torch.ones`'
