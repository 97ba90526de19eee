"""Host tensors indexed by accelerator tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "index": """
table = torch.rand(10, 4)
rows = table[torch.tensor([1, 2], device="cuda")]  # DEV107
""",
    "mask": """
x = torch.rand(10)
mask = x.cuda() > 0.5
print(x[mask])  # DEV107
""",
    "diffusion schedule": """
def extract(a, t, shape):
    return a[t].reshape(-1, *((1,) * (len(shape) - 1)))  # DEV107

betas = torch.linspace(1e-4, 0.02, 1000)
t = torch.randint(0, 1000, (8,), device="cuda")
extract(betas, t, (8, 3, 32, 32))
""",
    "one of several indices": """
table = torch.rand(10, 4)
i = torch.arange(4).cuda()
print(table[:, i])  # DEV107
""",
    "conditional device": """
device = "cuda" if torch.cuda.is_available() else "cpu"
labels = torch.arange(10)
order = torch.randperm(10, device=device)
labels = labels[order]  # DEV107
""",
    "a copy of a host tensor": """
def pick(values: torch.Tensor):
    copy = torch.tensor(values)
    return torch.index_select(copy, 0, torch.tensor([1]).cuda())  # DEV107

print(pick(torch.ones(3)))
""",
    "sorted on the accelerator": """
scores = torch.rand(10).cuda()
boxes = torch.rand(10, 4)
boxes = boxes[scores.argsort(descending=True)]  # DEV107
""",
}

GOOD = {
    "an assignment takes an index from anywhere": """
x = torch.rand(10)
x[x.cuda() > 0.5] = 0.0
x[torch.tensor([0, 1], device="cuda")] = torch.zeros(2)
""",
    "a copy of a tensor is where the tensor is, though only the function says that it is one": """
def reduce(tensor: torch.Tensor, kept: list[int]):
    using_cuda = bool(tensor.is_cuda)
    result = torch.tensor(tensor)
    if using_cuda:
        return torch.index_select(result, 0, torch.tensor(kept).cuda())
    return torch.index_select(result, 0, torch.tensor(kept))

def reduce_bias(module, kept: list[int], using_cuda: bool):
    bias = getattr(module, "bias")
    if using_cuda:
        bias = nn.Parameter(bias.cuda())
    return reduce(bias, kept)

def reduce_weight(module, kept: list[int]):
    return reduce(getattr(module, "weight"), kept)
""",
    "the other way round": """
table = torch.rand(10, 4, device="cuda")
print(table[torch.tensor([1, 2])], table[torch.ones(10).bool()], table[[1, 2]], table[1:3])
""",
    "brought to the host": """
table = torch.rand(10, 4)
i = torch.tensor([1, 2], device="cuda")
print(table[i.cpu()], table.to(i.device)[i], table[i.tolist()])
""",
    "both on the accelerator": """
table = torch.rand(10, 4).cuda()
print(table[torch.arange(3).cuda()])
""",
    "a Python number": """
table = torch.rand(10, 4)
i = torch.rand(10, device="cuda").argmax().item()
print(table[i], table[int(i)])
""",
    "a list indexed by a host number": """
names = ["a", "b"]
print(names[torch.zeros(3).argmax()])
""",
    "a 0-dim index is read as a number": """
x = torch.rand(10)
print(x[torch.tensor(1, device="cuda")])
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_the_message_names_both() -> None:
    (finding,) = check(
        """
table = torch.rand(10, 4)
index = torch.tensor([1, 2], device="cuda")
rows = table[index]  # DEV107
""",
        "DEV1",
    )
    assert finding.message == (
        "`table` is on cpu but its index `index` is on cuda: a host tensor takes only host indices"
    )
    assert finding.help == (
        "index on the host: `index.cpu()`; or move the tensor to where its index is, once if it is large:"
        " `table.to(index.device)`"
    )
