"""Indices and masks of a dtype that the operation refuses."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "an unpacked list that must reach the index": """
from dataclasses import dataclass

@dataclass
class Batch:
    x: torch.Tensor
    where: torch.Tensor

def pick(x: torch.Tensor, where: torch.Tensor):
    return x[where]  # DEV305

def run(count: int):
    parts, others = [torch.rand(3) for _ in range(count)], [torch.rand(3) for _ in range(count)]
    batch = Batch(*others)
    print(pick(*parts))
    return batch.x[batch.where]  # DEV305
""",
    "masks of attention that are integers": """
q, mask = torch.zeros(2, 4, 8, 16), torch.ones(8, 8, dtype=torch.int64)
F.scaled_dot_product_attention(q, q, q, attn_mask=mask)  # DEV305
x = torch.zeros(3, 1, 4)
nn.MultiheadAttention(4, 2)(x, x, x, key_padding_mask=torch.zeros(1, 3, dtype=torch.uint8))  # DEV305
""",
    "subscripts": """
x = torch.rand(8, 3)
print(x[torch.zeros(4)])  # DEV305
print(x[:, torch.tensor(1.0)])  # DEV305
print(x[torch.arange(8) / 2])  # DEV305
print(x[torch.tensor([1, 2], dtype=torch.int16)])  # DEV305
print(x[torch.zeros(2, dtype=torch.complex64)])  # DEV305
x[torch.tensor([0.0, 1.0])] = 0  # DEV305
x[torch.linspace(0, 7, 4)] += 1  # DEV305
""",
    "embeddings": """
table = nn.Embedding(10, 3)
table(torch.rand(4, 2))  # DEV305
table(torch.zeros(4, dtype=torch.uint8))  # DEV305
F.embedding(torch.ones(4), table.weight)  # DEV305
nn.EmbeddingBag(10, 3)(torch.zeros(4, 2))  # DEV305
nn.Sequential(nn.Embedding(10, 3), nn.Linear(3, 2))(torch.rand(4, 2))  # DEV305
""",
    "gathering and scattering": """
x = torch.rand(4, 4)
x.gather(1, torch.zeros(4, 4))  # DEV305
torch.gather(x, 1, torch.zeros(4, 4).bool())  # DEV305
x.index_select(0, torch.zeros(4))  # DEV305
torch.take_along_dim(x, torch.zeros(4, 4).int(), 1)  # DEV305
x.take(torch.zeros(4).int())  # DEV305
x.scatter_(1, torch.zeros(4, 4), 1.0)  # DEV305
torch.zeros(4, 4).scatter_add_(1, torch.zeros(4, 4), x)  # DEV305
torch.zeros(4, 4).index_add_(0, torch.zeros(4), x)  # DEV305
torch.zeros(4, 4).index_copy_(0, torch.zeros(4).int(), x)  # DEV305
torch.zeros(4).index_put_((torch.zeros(4),), x[0])  # DEV305
""",
    "class numbers": """
F.one_hot(torch.from_numpy(np.array([0.0, 1.0, 2.0])), 3)  # DEV305
F.one_hot(torch.zeros(4, dtype=torch.int32), 3)  # DEV305
torch.bincount(torch.rand(4))  # DEV305
""",
    "masks": """
x = torch.rand(4)
x.masked_fill((x > 0.5).float(), 0.0)  # DEV305
x.masked_select((x > 0.5).byte())  # DEV305
torch.where(torch.ones(4), x, x)  # DEV305
torch.where(torch.ones(4), 1.0, 0.0)  # DEV305
""",
    "a float, whatever the argument is": """
def pick(table: torch.Tensor, position: torch.Tensor):
    middle = position / 2
    return table[middle], table[:, middle + 1]  # DEV305

def gather(table: torch.Tensor, position: torch.Tensor):
    return table.gather(0, position * 0.5)  # DEV305

def embed(position: torch.Tensor):
    return nn.Embedding(3, 4, device=position.device)(position.mean(0) / 2)  # DEV305
""",
    "across functions": """
def middle(count):
    return torch.arange(count) / 2

def pick(x, index):
    return x.index_select(0, index)  # DEV305

pick(torch.rand(8), middle(8))
""",
    "of what only a tensor's method takes": """
def spread(x, dim):
    x.scatter(1, torch.zeros(4, 4), 1.0)  # DEV305
    x.scatter(dim=-1, index=torch.zeros(4, 4), src=x)  # DEV305
    x.gather(dim, torch.zeros(4, 4))  # DEV305
""",
    "of one index, where it fails first": """
def beam(x, heads, n: int):
    index = torch.arange(n) / 3
    a = heads.gather(1, index)  # DEV305
    b = x.gather(1, index.unsqueeze(2))
    return a, b

def other(x, n: int):
    index = torch.arange(n) / 3
    return x.gather(1, index)  # DEV305
""",
    "several uses of one cast": """
x = torch.rand(4)
mask = (x > 0.5).float()
x.masked_fill(mask, 0.0)  # DEV305
torch.where(mask, x, x)
""",
    "under autocast": """
x = torch.rand(4, device="cuda")
with torch.autocast("cuda"):
    print(x[torch.zeros(2, device="cuda")])  # DEV305
""",
    "beside a test of another rank": """
def classes(x, y):
    c = x.float()
    if y.dim() == 2:
        return F.one_hot(c, 20)  # DEV305
    return y
""",
    "of a known rank": """
c = torch.zeros(3, 4)
if c.dim() == 2:
    F.one_hot(c, 20)  # DEV305
""",
}

GOOD = {
    "an unpacked list that may end before the index": """
from dataclasses import dataclass

@dataclass
class Batch:
    x: torch.Tensor
    where: torch.Tensor = None

def pick(x: torch.Tensor, where: torch.Tensor = None):
    return x[where]

def run(count: int):
    parts, others = [torch.rand(3) for _ in range(count)], [torch.rand(3) for _ in range(count)]
    batch = Batch(*others)
    print(pick(*parts))
    return batch.x[batch.where]
""",
    "masks of attention that are bool or float": """
q, mask = torch.zeros(2, 4, 8, 16), torch.ones(8, 8, dtype=torch.int64)
F.scaled_dot_product_attention(q, q, q, attn_mask=mask.bool())
F.scaled_dot_product_attention(q, q, q, attn_mask=mask.float())
F.scaled_dot_product_attention(q.half(), q.half(), q.half(), attn_mask=torch.zeros(8, 8))
x = torch.zeros(3, 1, 4)
nn.MultiheadAttention(4, 2)(x, x, x, attn_mask=torch.zeros(3, 3), key_padding_mask=torch.zeros(1, 3) > 0)
""",
    "an integer again, or the argument's own dtype": """
def pick(table: torch.Tensor, position: torch.Tensor):
    a = table[(position / 2).long()] + table[position // 2] + table[position * 2]
    b = table[torch.div(position, 2, rounding_mode="floor")] + table.gather(0, (position * 0.5).round().long())
    return a + b + table[position] + table[(position / 2) > 1]
""",
    "one argument asks where a tensor is not zero": """
a, b = torch.where(torch.ones(3, 3))
print(a, b, torch.where(condition=torch.rand(4)))
""",
    "what each operation takes": """
x = torch.rand(4, 4)
rows = torch.tensor([0, 1, 1, 2])
cell = torch.zeros(4, 4, dtype=torch.int32)
print(x[rows], x[rows.int()], x[rows.byte()], x[rows > 1], x[:, rows], x[rows, rows])
x.gather(1, cell), x.scatter_(1, cell, 1.0), x.index_select(0, rows.int()), nn.Embedding(4, 2)(cell)
x.take(rows), x.take_along_dim(cell.long(), 1), F.one_hot(rows, 4), F.one_hot(cell.long())
torch.bincount(rows.short()), torch.where(rows.byte(), x, x), x.masked_fill(x > 0, 0.0)
torch.zeros(4).index_put_((rows > 1,), torch.tensor(1.0))
x[rows > 1] = 0.0
x[rows.int()] = 1.0
""",
    "0-dim integers are read as Python numbers": """
x = torch.rand(8)
print(x[torch.tensor(1, dtype=torch.int16)], x[torch.tensor(3, dtype=torch.uint8)])
x[torch.tensor(1).short()] = 2.0
for step in torch.zeros(3, dtype=torch.int8):
    print(x[step])
""",
    "cast in time": """
x = torch.rand(8, 3)
middle = torch.arange(8) / 2
print(x[middle.long()], x[(torch.arange(8) // 2)], x.masked_fill(middle.bool().unsqueeze(1), 0.0))
print(nn.Embedding(10, 3)(torch.rand(4).mul(10).floor().to(torch.int64)))
""",
    "unknown dtypes and Python numbers": """
from data import index

def pick(x: torch.Tensor, i: torch.Tensor, j, n):
    print(x[i], x[j], x[:, j], x.gather(1, i), x[torch.arange(n)], nn.Embedding(3, 3)(i), x[[0, 1]], x[index])
    return x[torch.tensor(j)]
""",
    "one of two dtypes": """
import sys

x = torch.rand(8)
index = torch.zeros(4)
if len(sys.argv) > 1:
    index = index.long()
    print(x[index])
print(x.index_select(0, index if index.dtype == torch.int64 else index.long()))
""",
    "masks that are added": """
attention = nn.MultiheadAttention(8, 2).double()
x = torch.rand(4, 2, 8, dtype=torch.float64)
attention(x, x, x, attn_mask=torch.zeros(4, 4, dtype=torch.float64))
""",
    "lengths are converted": """
from torch.nn.utils.rnn import pack_padded_sequence

pack_padded_sequence(torch.rand(4, 2, 3), torch.tensor([4, 3], dtype=torch.int32))
pack_padded_sequence(torch.rand(4, 2, 3), torch.tensor([4.0, 3.0]))
""",
    "a method that other libraries have as well": """
def draw(ax, communicator, xs):
    ys = torch.rand(4)
    ax.scatter([0], [0], color="red")
    ax.scatter(xs, ys, color="red")
    ax.scatter(xs, ys)
    ax.scatter(0, ys, linewidths=2)
    communicator.gather(ys, root=0)
    communicator.scatter(ys, 0)
""",
    "no tensor is indexed": """
names = {torch.float32: "single"}
values = np.zeros(4)
print(names[torch.zeros(1).dtype], values[torch.tensor([0, 1])])
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV305")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV305")


@pytest.mark.parametrize(
    ("call", "message", "advice"),
    [
        (
            "x.gather(0, i)",
            "`i` is float32, but `.gather()` takes int32 or int64 for its `index`",
            "cast it: `i.long()`",
        ),
        (
            "x[i]",
            "`i` is float32, but indexing takes bool, int32, int64 or uint8",
            "cast it: `i.long()`",
        ),
        (
            "x.masked_fill(i, 0.0)",
            "`i` is float32, but `.masked_fill()` takes bool for its `mask`",
            "cast it: `i.to(torch.bool)`",
        ),
    ],
)
def test_the_finding_says_what_is_taken(call: str, message: str, advice: str) -> None:
    (found,) = check(f"x, i = torch.rand(8), torch.zeros(8)\nprint({call})  # DEV305\n", "DEV305")
    assert (found.message, found.help) == (message, advice)


def test_the_story_has_the_call_that_hands_over_what_another_run_of_the_same_code_made() -> None:
    (finding,) = check(
        """
class Tree:
    def __init__(self, scores: torch.Tensor, lens: torch.Tensor):
        self.scores, self.lens = scores, lens
        self.mask = lens.unsqueeze(-1) > 1
        self.mask = self.mask.index_fill(1, self.lens.new_tensor(0), 0)  # DEV305

    def score(self):
        return Tree(self.scores, self.mask)

print(Tree(torch.ones(2, 3), torch.ones(2).long()).score())
""",
        "DEV3",
    )
    *_, call = finding.trace
    assert call.message == "handed to another `Tree` here"
    assert call.region.start.row == 13
