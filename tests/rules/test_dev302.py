"""Two dtypes in an operation that does not promote."""

from __future__ import annotations

import pytest

from devlint import Confidence, check_source

from .programs import check

BAD = {
    "what is given for the result": """
whole, single, half = torch.zeros(3, dtype=torch.int64), torch.zeros(3), torch.zeros(2, 2, dtype=torch.float16)
torch.add(whole, single, out=whole)  # DEV302
torch.mm(torch.zeros(2, 2), torch.zeros(2, 2), out=half)  # DEV302
""",
    "a grid of two dtypes": """
print(torch.meshgrid(torch.arange(3), torch.linspace(0, 1, 3), indexing="ij"))  # DEV302
""",
    "a table that grows on one path, and forgets its dtype": """
class Positions(nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.dim = dim
        self.grow(count)

    def grow(self, count):
        self.register_buffer("table", torch.zeros(count, self.dim))

    def forward(self, x):
        if x.shape[1] > self.table.shape[0]:
            self.grow(x.shape[1])
        return x + self.table[: x.shape[1]]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.positions = Positions(4, 8)
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(self.positions(x))  # DEV302

net = Net().half()
net(torch.rand(2, 10, 8).half())
""",
    "half precision on one path only": """
def attend(query, key, fast):
    query, key = torch.rand(2, 8), torch.rand(8, 2)
    if fast:
        query = query.half()
    return query @ key  # DEV302
""",
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
    "what is given for the result": """
whole, single, half = torch.zeros(3, dtype=torch.int64), torch.zeros(3), torch.zeros(2, 2, dtype=torch.float16)
torch.add(whole, single, out=single)
torch.add(single, single, out=torch.zeros(3, dtype=torch.float16))
torch.add(whole, 1, out=whole)
torch.sqrt(whole, out=single)
torch.eq(whole, single, out=whole)
torch.sum(torch.zeros(2, 3), 0, out=torch.zeros(3, dtype=torch.float64))
torch.mm(half, half, out=half)
torch.matmul(half.float(), half.float(), out=torch.zeros(2, 2))
""",
    "a grid of one dtype": """
print(torch.meshgrid(torch.arange(3.0), torch.linspace(0, 1, 3), indexing="ij"))
print(torch.meshgrid([torch.arange(3), torch.arange(4)], indexing="ij"))
print(torch.broadcast_tensors(torch.arange(3), torch.linspace(0, 1, 3)))
""",
    "both follow one condition": """
def attend(fast):
    query, key = torch.rand(2, 8), torch.rand(8, 2)
    if fast:
        query = query.half()
    scale = torch.ones(8, 8)
    if fast:
        key, scale = key.half(), scale.half()
    return query @ scale @ key
""",
    "the dtype of a path is asked for": """
def attend(fast):
    query, key = torch.rand(2, 8), torch.rand(8, 2)
    if fast:
        query = query.half()
    if query.dtype == torch.float16:
        key = key.half()
    return query @ key

def widen(fast):
    query, key = torch.rand(2, 8), torch.rand(8, 2)
    if fast:
        query = query.bfloat16()
    if query.dtype != torch.float32:
        query = query.float()
    return query @ key
""",
    "cast to the dtype of what it meets": """
def attend(fast):
    query, key = torch.rand(2, 8), torch.rand(8, 2)
    if fast:
        query = query.half()
    return query.to(key.dtype) @ key, query @ key.to(query.dtype), query @ key.type_as(query)

class Positions(nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.dim = dim
        self.register_buffer("table", torch.zeros(count, dim))
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        if x.shape[1] > self.table.shape[0]:
            self.table = torch.zeros(x.shape[1], self.dim).to(self.table)
        return self.fc(x + self.table[: x.shape[1]])

Positions(4, 8).half()(torch.rand(2, 10, 8).half())
""",
    "the path in half precision has returned": """
def attend(fast):
    query, key = torch.rand(2, 8), torch.rand(8, 2)
    if fast:
        query = query.half()
    if fast:
        return query
    return query @ key
""",
    "half precision on one path, under autocast": """
def attend(fast):
    query, key = torch.rand(2, 8, device="cuda"), torch.rand(8, 2, device="cuda")
    if fast:
        query = query.half()
    with torch.autocast("cuda"):
        return query @ key
""",
    "what promotes, on one path or the other": """
def attend(fast):
    query, key = torch.rand(2, 8), torch.rand(2, 8)
    if fast:
        query = query.half()
    return query * key + query - key
""",
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


def test_a_dtype_that_depends_on_a_condition_beside_an_unknown_one() -> None:
    text = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTMCell(3, 3)
    def forward(self, x: torch.Tensor, wide: bool, kind):
        h = torch.zeros(1, 3, device=x.device, dtype=torch.float64) if wide else torch.zeros(1, 3, device=x.device)
        c = torch.zeros(1, 3, device=x.device, dtype={})
        state = (h, c)
        return self.rnn(x, state)
"""
    unknown = check_source(text.format("kind"), select=["DEV302"])
    assert not unknown.errors and not unknown.diagnostics
    known = check_source(text.format("torch.float32"), select=["DEV302"], min_confidence=Confidence.POSSIBLE)
    assert not known.errors


def test_the_finding_names_both_sides() -> None:
    (found,) = check("a, b = torch.rand(3, 3), torch.rand(3, 3).half()\nprint(a @ b)  # DEV302\n", "DEV302")
    assert found.message == "`@` raises: `a`, which is float32, meets `b`, which is float16"
    assert found.help == "cast one of them: `b.to(a.dtype)`"


def test_weights_are_named_after_their_module() -> None:
    (found,) = check("net = nn.Linear(3, 3).half()\nx = torch.rand(2, 3)\nnet(x)  # DEV302\n", "DEV302")
    assert found.message.endswith("`x`, which is float32, meets the weights of `net`, which are float16")
    assert found.help == "cast one of them: `x.half()`"
    assert [(note.region.start.row, note.message) for note in found.trace] == [
        (6, "`x` made in float32 by `torch.rand`, torch's default"),
        (5, "the weights of `net` cast to float16 by `.half()`"),
    ]


def test_inputs_are_cast_to_the_dtype_of_weights() -> None:
    program = """
class LowRank(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Parameter(torch.zeros(8, 2, dtype=torch.bfloat16))

    def forward(self, x):
        return {product}  # DEV302

LowRank()(torch.rand({shape}))
"""
    (finding,) = check(program.format(product="x @ self.down", shape="4, 8"), "DEV302")
    assert finding.help == "cast one of them: `x.to(self.down.dtype)`"
    (finding,) = check(program.format(product="self.down @ x", shape="2, 4"), "DEV302")
    assert finding.help == "cast one of them: `x.to(self.down.dtype)`"
