"""Accelerator tensors where only host tensors are accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "lengths that are passed twice are one mistake": """
from torch.nn.utils.rnn import pack_padded_sequence

def loss(scores: torch.Tensor, targets: torch.Tensor, lengths: torch.Tensor):
    lengths = lengths.cuda()
    packed = pack_padded_sequence(scores, lengths, batch_first=True)  # DEV108
    return packed, pack_padded_sequence(targets, lengths, batch_first=True)
""",
    "lengths": """
from torch.nn.utils.rnn import pack_padded_sequence

x = torch.rand(4, 10, 8).cuda()
lengths = torch.tensor([10, 9, 4, 2]).cuda()
packed = pack_padded_sequence(x, lengths, batch_first=True)  # DEV108
""",
    "by its full name, by keyword": """
x = torch.rand(4, 10, 8, device="cuda")
packed = nn.utils.rnn.pack_padded_sequence(x, lengths=torch.ones(4, device="cuda"), enforce_sorted=False)  # DEV108
""",
    "a batch moved at once": """
from torch.nn.utils.rnn import pack_padded_sequence

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 16)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths)  # DEV108
        return self.rnn(packed)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Encoder().to(device)
batch = (torch.rand(10, 4, 8), torch.tensor([10, 9, 4, 2]))
x, lengths = [part.to(device) for part in batch]
model(x, lengths)
""",
    "computed from a mask": """
from torch.nn.utils.rnn import pack_padded_sequence

ids = torch.zeros(4, 10, dtype=torch.long).cuda()
x = nn.Embedding(100, 8).cuda()(ids)
packed = pack_padded_sequence(x, (ids != 0).sum(1), batch_first=True)  # DEV108
""",
    "split points": """
x = torch.rand(10).cuda()
parts = torch.tensor_split(x, torch.tensor([3, 6]).cuda())  # DEV108
""",
}

GOOD = {
    "on the host": """
from torch.nn.utils.rnn import pack_padded_sequence

x = torch.rand(4, 10, 8).cuda()
lengths = torch.tensor([10, 9, 4, 2]).cuda()
print(
    pack_padded_sequence(x, lengths.cpu(), batch_first=True),
    pack_padded_sequence(x, lengths.tolist(), batch_first=True),
    pack_padded_sequence(x, [10, 9, 4, 2], batch_first=True),
    pack_padded_sequence(x, torch.tensor([10, 9, 4, 2]), batch_first=True),
)
""",
    "split by a list": """
x = torch.rand(10).cuda()
print(torch.tensor_split(x, [3, 6]), torch.split(x, 5), torch.tensor_split(x, torch.tensor([3, 6])))
""",
    "only the data of a batch is moved": """
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 16)

    def forward(self, x, lengths):
        return self.rnn(pack_padded_sequence(x, lengths, enforce_sorted=False))

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Encoder().to(device)
for sequences in [[torch.rand(9, 8), torch.rand(4, 8)], [torch.rand(5, 8)]]:
    lengths = torch.tensor([len(one) for one in sequences])
    model(pad_sequence(sequences).to(device), lengths)
""",
    "lengths that come back before they are packed": """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

x, ids = torch.rand(4, 10, 8, device="cuda"), torch.ones(4, 10, device="cuda")
lengths = (ids != 0).sum(1).to("cpu", torch.int64)
packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
padded, again = pad_packed_sequence(packed, batch_first=True)
mask = torch.arange(10, device="cuda")[None] < lengths.to("cuda")[:, None]
""",
    "lengths of padded sequences": """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def again(x: torch.Tensor):
    padded, sizes = pad_packed_sequence(pack_padded_sequence(x.cuda(), [4, 3]))
    return pack_padded_sequence(padded, sizes)
""",
    "the caller's": """
from torch.nn.utils.rnn import pack_padded_sequence

def pack(x: torch.Tensor, lengths: torch.Tensor):
    return pack_padded_sequence(x.cuda(), lengths)
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_the_message_names_the_argument() -> None:
    (finding,) = check(BAD["lengths"], "DEV1")
    assert finding.message == (
        "`lengths` is on cuda, but `torch.nn.utils.rnn.pack_padded_sequence` takes its `lengths` on the host only"
    )
    assert finding.help == "pass it from the host: `lengths.cpu()`"
