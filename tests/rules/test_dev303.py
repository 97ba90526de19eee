"""float64 that goes to an accelerator."""

from __future__ import annotations

import pytest

from devlint.diagnostic import Severity

from .programs import PRELUDE, check, lint

BAD = {
    "a mask that is compared, and computed with": """
def attend(scores: torch.Tensor):
    mask = torch.from_numpy(np.random.rand(64, 1000)).cuda()  # DEV303
    return scores.masked_fill(mask > 0, 0.0) * mask
""",
    "the sum is cast, which is computed in float64": """
def total():
    table = np.linspace(0.1, 0.2, 1000)
    return torch.from_numpy(table).to("cuda").sum().float()  # DEV303
""",
    "from NumPy": """
x = torch.from_numpy(np.random.rand(3)).to("cuda")  # DEV303
y = torch.tensor(np.zeros(3))
y = y.cuda()  # DEV303
""",
    "when there is an accelerator": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
signal = torch.from_numpy(np.linspace(0.0, 1.0, 100))
signal = signal.to(device)  # DEV303
""",
    "a buffer beside float32 parameters": """
class Trend(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("steps", torch.from_numpy(np.arange(4) / 4))

model = Trend()
model.to("mps")  # DEV303
model.float().to("cuda")
""",
    "in a helper": """
def to_device(array, device):
    tensor = torch.from_numpy(array)
    return tensor.to(device)  # DEV303

to_device(np.random.rand(3), torch.device("mps"))
""",
    "mps has no float64 to cast": """
x = torch.from_numpy(np.random.rand(3))
x = x.to("mps").float()  # DEV303
""",
    "written out": """
x = torch.zeros(3, dtype=torch.float64)
x = x.cuda()  # DEV303
""",
    "a module": """
model = nn.Linear(3, 3).double()
model.cuda()  # DEV303
""",
}

GOOD = {
    "a single number": """
def entropy(p: torch.Tensor):
    return p.sum() / torch.tensor(np.log(3)).cuda()
""",
    "a mask that is only compared": """
def attend(scores: torch.Tensor):
    mask = torch.from_numpy(np.random.rand(64, 1000)).cuda()
    return scores.masked_fill(mask > 0, 0.0)
""",
    "what the next statement casts": """
def load():
    table = torch.from_numpy(np.random.rand(64, 1000)).cuda()
    table = table.float()
    return table
""",
    "the elements that are taken out are cast at once": """
def extract(times: torch.Tensor):
    table = np.linspace(0.1, 0.2, 1000)
    return torch.from_numpy(table).to(times.device)[times].float()

extract(torch.zeros(3, dtype=torch.long, device="cuda"))
""",
    "cast before or with the transfer": """
x = torch.from_numpy(np.random.rand(3))
a = x.float().cuda()
b = x.to("cuda", torch.float32)
c = x.to(device="cuda", dtype=torch.float16)
d = torch.from_numpy(np.random.rand(3).astype(np.float32)).cuda()
""",
    "on the host": """
x = torch.from_numpy(np.random.rand(3)).to("cpu")
x = x.cpu()
""",
    "float32": """
x = torch.tensor([0.1, 0.2]).cuda()
""",
    "integers": """
x = torch.from_numpy(np.arange(3)).cuda()
""",
    "from the accelerator": """
x = torch.zeros(3, dtype=torch.float64, device="cuda").cpu()
""",
    "a device that only the caller knows": """
def move(array, device):
    return torch.from_numpy(np.zeros(3)).to(device)
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV303")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV303")


@pytest.mark.parametrize(
    ("source", "severity", "said"),
    [
        ('torch.from_numpy(np.zeros(3)).to("cuda")', Severity.INFO, "goes to cuda, where float64 is slow"),
        ('torch.zeros(3, dtype=torch.float64).to("cuda")', Severity.INFO, "goes to cuda, where float64 is slow"),
        ('torch.zeros(3, dtype=torch.float64).to("mps")', Severity.ERROR, "cannot go to mps, which has no float64"),
    ],
)
def test_intent_and_device_decide_how_bad_it_is(source: str, severity: Severity, said: str) -> None:
    (found,) = check(f"x = {source}  # DEV303\n", "DEV303")
    assert found.severity is severity
    assert found.message.endswith(said)


COSTS = {
    "an operation with what is float64 too": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.from_numpy(np.ones((1, 1, 3))).cuda()

    def forward(self, x):
        signal = torch.from_numpy(np.random.rand(64, 1, 1000)).to("cuda")  # DEV303
        return F.conv1d(signal, self.kernel)
""",
    "a product with what is float32": """
def train(rewards, model: nn.Linear, optimizer):
    for one in rewards:
        reward = torch.from_numpy(np.random.rand(64, 1000)).to("cuda")  # DEV303
        value = torch.rand(64, 1000, device="cuda")
        (reward * value * model(value)).mean().backward()
        optimizer.step()
""",
    "a loss": """
class Net(nn.Module):
    def training_step(self, batch):
        target = torch.from_numpy(np.random.rand(64, 1000)).cuda()  # DEV303
        return F.mse_loss(torch.rand(64, 1000).cuda(), target)
""",
    "in a helper that is called with it": """
def power(signal):
    return (signal - signal.mean()).pow(2).sum()

class Net(nn.Module):
    def forward(self, x):
        return x * power(torch.from_numpy(np.random.rand(64, 1000)).to("cuda"))  # DEV303
""",
}

COSTS_NOTHING = {
    "a loop that does not train": """
for name in range(100):
    signal = torch.from_numpy(np.loadtxt(str(name))).to("cuda")
    print((signal - signal.mean()).pow(2).sum())
""",
    "the top level of a script": """
signal = torch.from_numpy(np.loadtxt("a")).to("cuda")
print((signal - signal.mean()).pow(2).sum())
""",
    "an operation that raises, for its dtypes differ": """
class Net(nn.Module):
    def forward(self, x):
        signal = torch.from_numpy(np.random.rand(64, 1, 1000)).to("cuda")
        return F.conv1d(signal, torch.ones(1, 1, 3, device="cuda"))
""",
    "an unknown model may cast it": """
from somewhere import model
for seed in range(10):
    z = torch.from_numpy(np.random.randn(64, 512)).to("cuda")
    print(model(z))
""",
    "a mask that is passed on and compared": """
def keep(scores, mask):
    return scores[mask > 0]

for seed in range(10):
    mask = torch.from_numpy(np.ones((64, 512))).to("cuda")
    print(keep(torch.rand(64, 512, device="cuda"), mask))
""",
    "rows are taken out, and then cast": """
for seed in range(10):
    table = torch.from_numpy(np.random.rand(64, 512)).to("cuda")
    rows = torch.cat([table[:2], table[4:]])
    print(rows.float() * 2)
""",
    "a single number": """
for seed in range(10):
    rate = torch.tensor(np.float64(0.5)).to("cuda")
    print(rate * torch.rand(64, 512, device="cuda"))
""",
    "beside what the program itself makes float64": """
class Net(nn.Module):
    def training_step(self, logits: torch.Tensor):
        mask = torch.from_numpy(np.ones((64, 1000))).cuda()
        return (logits.double() * mask).max()
""",
    "beside what the program itself makes float64 of data that devlint does not know": """
class Net(nn.Module):
    def training_step(self, net, images):
        mask = torch.from_numpy(np.ones((64, 1000))).cuda()
        logits = net.get_logits(images).to("cuda")
        return (logits.double() * mask).max()
""",
    "float64 on purpose": """
for seed in range(10):
    table = torch.rand(64, 512, dtype=torch.float64).to("cuda")
    print((table * table).sum())
""",
}


def costs(source: str) -> set[int]:
    """The rows of findings that are more than an information."""
    found = lint(PRELUDE + source, frozenset({"DEV303"}))
    return {one.region.start.row for one in found if one.severity is not Severity.INFO}


@pytest.mark.parametrize("source", COSTS.values(), ids=COSTS)
def test_a_computation_in_float64_is_warned_of(source: str) -> None:
    rows = [row for row, line in enumerate((PRELUDE + source).splitlines(), 1) if "# DEV303" in line]
    assert costs(source) == set(rows)


@pytest.mark.parametrize("source", COSTS_NOTHING.values(), ids=COSTS_NOTHING)
def test_where_none_is_seen_it_is_an_information(source: str) -> None:
    assert not costs(source)
