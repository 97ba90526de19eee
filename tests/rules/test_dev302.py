"""Two dtypes in an operation that does not promote."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "a part of a batch": """
from torch.utils.data import DataLoader
def train(dataset, device):
    model = nn.Linear(3, 3).to(device)
    for x, y in DataLoader(dataset, batch_size=4):
        x = x.to(device)
        model(x.double())  # DEV302
        model(x.half())  # DEV302
""",
    "matrix products": """
a, b = torch.rand(3, 3), torch.rand(3, 3, dtype=torch.float64)
a @ b  # DEV302
torch.mm(b, a)  # DEV302
a.matmul(b)  # DEV302
torch.bmm(a[None], b[None])  # DEV302
F.linear(a, b)  # DEV302
""",
    "a normalization in half precision of float32": """
x, rows = torch.rand(2, 4, 3, 3), torch.rand(2, 4)
nn.LayerNorm(4).half()(rows)  # DEV302
nn.GroupNorm(2, 4).bfloat16()(x)  # DEV302
nn.BatchNorm2d(4).half()(x)  # DEV302
F.layer_norm(rows, (4,), torch.ones(4, dtype=torch.float16))  # DEV302
""",
    "half weights": """
model = nn.Linear(3, 3).half()
model(torch.rand(2, 3))  # DEV302
""",
    "integers into a layer": """
model = nn.Linear(3, 3)
model(torch.ones(2, 3).long())  # DEV302
""",
    "a recurrent layer": """
rnn = nn.LSTM(3, 4).double()
rnn(torch.rand(5, 1, 3))  # DEV302
""",
    "written by index": """
table = torch.zeros(8, 3, dtype=torch.float16)
rows = torch.tensor([1, 2])
table[rows] = torch.rand(2, 3)  # DEV302
""",
    "a mask that was counted": """
x = torch.rand(4, 4)
counts = torch.ones(4, 4, dtype=torch.int64)
x @ counts  # DEV302
""",
    "a convolution in bfloat16": """
conv = nn.Conv2d(1, 4, 3).to(torch.bfloat16)
conv(torch.rand(1, 1, 8, 8))  # DEV302
""",
}

GOOD = {
    "a normalization in float32 of half precision": """
x, rows = torch.rand(2, 4, 3, 3), torch.rand(2, 4)
nn.LayerNorm(4)(rows.half())
nn.GroupNorm(2, 4)(x.bfloat16())
nn.BatchNorm2d(4)(x.half())
F.layer_norm(rows.half(), (4,), torch.ones(4))
nn.RMSNorm(4).half()(rows)
""",
    "a part of a batch": """
from torch.utils.data import DataLoader
def train(dataset, device):
    model, double = nn.Linear(3, 3).to(device), nn.Linear(3, 3).double().to(device)
    for x, y in DataLoader(dataset, batch_size=4):
        x = x.to(device)
        double(x.double())
        model(x)
        model(x.float())
""",
    "operations that promote": """
a, b = torch.rand(3), torch.rand(3, dtype=torch.float64)
a + b, a * b, torch.maximum(a, b), torch.where(a > 0, a, b), torch.cat([a, b]), torch.stack([a, b])
a.half() + a, a + torch.arange(3)
""",
    "inside autocast": """
model = nn.Linear(3, 3).cuda()
half = torch.rand(2, 3, device="cuda").half()
with torch.autocast("cuda", dtype=torch.float16):
    model(half)
    half @ model.weight
""",
    "Python numbers and 0-dim tensors": """
x = torch.rand(3).half()
x * 2.5, x + torch.tensor(1.0), x @ x * torch.tensor(2.0, dtype=torch.float64)
x[torch.tensor([0])] = 1.0
""",
    "slices cast what they are given": """
table = torch.zeros(8, 3, dtype=torch.float16)
table[:2] = torch.rand(2, 3)
table[0] = torch.rand(3)
table.copy_(torch.rand(8, 3))
""",
    "cast to the other's dtype": """
a, b = torch.rand(3, 3), torch.rand(3, 3, dtype=torch.float64)
a.to(b.dtype) @ b, a @ b.type_as(a), a.double() @ b, a @ b.to(a)
""",
    "a whole module and its input": """
model = nn.Linear(3, 3).half()
model(torch.rand(2, 3).half())
model.float()
model(torch.rand(2, 3))
""",
    "a module in the precision its caller chose": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x.half())
""",
    "autocast as a decorator": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    @torch.autocast("cuda")
    def forward(self, x):
        return self.fc(x)

Net().cuda()(torch.rand(2, 3, device="cuda").half())
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV302")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV302")


def test_the_finding_names_both_sides() -> None:
    (found,) = check("a, b = torch.rand(3, 3), torch.rand(3, 3).half()\nprint(a @ b)  # DEV302\n", "DEV302")
    assert found.message == "`@` does not promote: `a`, which is float32, meets `b`, which is float16"
    assert found.help == "cast one of them: `b.to(a.dtype)`"


def test_weights_are_named_after_their_module() -> None:
    (found,) = check("net = nn.Linear(3, 3).half()\nx = torch.rand(2, 3)\nnet(x)  # DEV302\n", "DEV302")
    assert found.message.endswith("`x`, which is float32, meets the weights of `net`, which are float16")
    assert found.help == "cast one of them: `x.half()`"
    assert [(note.region.start.row, note.message) for note in found.trace] == [
        (6, "`x` made in float32 by `torch.rand`, torch's default"),
        (5, "the weights of `net` cast to float16 by `.half()`"),
    ]
