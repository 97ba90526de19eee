"""NumPy asked to read accelerator tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "one tensor that is read twice is one mistake": """
def show(x: torch.Tensor, y: torch.Tensor):
    x, y = x.cuda(), y.cuda()
    print(x.numpy())  # DEV106
    print(y.numpy())  # DEV106
    return x.numpy()

def show_again(x: torch.Tensor):
    return x.cuda().numpy()  # DEV106
""",
    "the data of a part of a batch": """
from torch.utils.data import DataLoader
def collect(dataset):
    for x, y in DataLoader(dataset, batch_size=4):
        x, y = x.cuda(), y.cuda()
        print(x.cpu().data.numpy(), y.data.cpu().numpy())
        print(y.data.numpy())  # DEV106
""",
    "numpy()": """
x = torch.ones(3).cuda()
print(x.numpy())  # DEV106
""",
    "conditional device": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(3, device=device)
y = x.detach().numpy()  # DEV106
""",
    "a handler of an error that has nothing to do with the tensor": """
def alpha(n, x: torch.Tensor):
    x = x.cuda()
    try:
        return n / torch.log(x)
    except ZeroDivisionError:
        return np.mean(x)  # DEV106
""",
    "what the handler makes itself": """
def alpha(n, x):
    try:
        return n / torch.log(x)
    except TypeError:
        x = torch.ones(3).cuda()
        return np.log(x)  # DEV106
""",
    "a NumPy function": """
losses = torch.rand(8, device="cuda")
print(np.mean(losses))  # DEV106
print(np.asarray(losses).max())  # DEV106
""",
    "an array of tensors": """
losses = []
for _ in range(3):
    losses.append(torch.rand(8, device="cuda").mean())
print(np.mean(losses))  # DEV106
print(np.array(losses))  # DEV106
""",
    "a model's output": """
model = nn.Linear(8, 2).cuda()
with torch.no_grad():
    out = model(torch.rand(4, 8).cuda())
    guess = out.argmax(1).numpy()  # DEV106
""",
    "through functions": """
def to_image(x):
    return x.permute(1, 2, 0).numpy()  # DEV106

to_image(torch.rand(3, 8, 8).cuda())
""",
    "parameters": """
model = nn.Linear(8, 2).cuda()
weights = {name: p.detach().numpy() for name, p in model.named_parameters()}  # DEV106
""",
}

GOOD = {
    "a handler that does by NumPy what torch has refused": """
def alpha(n: torch.Tensor, total, low):
    try:
        a = 1 + n / (total - n * torch.log(low - 0.5))
    except:
        a = 1 + n / (total - n * np.log(low - 0.5))
    return a

def fit(n: torch.Tensor, total: torch.Tensor, low: torch.Tensor):
    low = low.to(n.device)
    return alpha(n, total.to(n.device), low)

def fit_on_accelerator(n: torch.Tensor, low: torch.Tensor):
    return alpha(n.cuda(), n.sum().cuda(), low.cuda())
""",
    "functions of NumPy that call the tensor's own method": """
x = torch.rand(2, 1).cuda()
print(np.squeeze(x), np.swapaxes(x, 0, 1), np.real(x), np.nonzero(x), np.shape(x))
print(np.split(x, [1]), np.take_along_axis(x, np.zeros((1, 1), dtype=int), axis=0))
""",
    "copied first": """
x = torch.ones(3).cuda()
print(x.cpu().numpy(), x.to("cpu").numpy(), x.detach().cpu().numpy(), np.array(x.cpu()), x.tolist(), x.mean().item())
""",
    "force": """
x = torch.ones(3).cuda()
print(x.numpy(force=True))
""",
    "host": """
x = torch.ones(3)
print(x.numpy(), np.mean(x))
""",
    "asked first": """
def to_numpy(x):
    if x.is_cuda:
        x = x.cpu()
    return x.numpy()

to_numpy(torch.ones(3).cuda())
""",
    "asked for the type": """
def to_numpy(x):
    if x.device.type != "cpu":
        x = x.cpu()
    return x.numpy()

to_numpy(torch.ones(3, device="cuda"))
""",
    "the caller's": """
def to_numpy(x: torch.Tensor):
    return x.numpy()
""",
    "numbers": """
losses = []
for _ in range(3):
    losses.append(torch.rand(8, device="cuda").mean().item())
print(np.mean(losses), np.array(torch.rand(3, device="cuda").tolist()))
""",
    "sizes": """
x = torch.rand(8, device="cuda")
print(np.zeros(x.shape), np.prod(x.size()), np.arange(len(x)))
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_the_help_says_what_to_write() -> None:
    (finding,) = check("x = torch.ones(3).cuda()\ny = x.numpy()  # DEV106", "DEV1")
    assert finding.message == "`x` is on cuda, but `.numpy()` reads host memory only"
    assert finding.help == "copy it to the host first: `x.cpu()`"
    assert [note.region.start.row for note in finding.trace] == [5]


def test_what_autograd_follows_is_detached_too() -> None:
    (finding,) = check("x = torch.ones(3, device='cuda', requires_grad=True)\ny = x.numpy()  # DEV106", "DEV1")
    assert finding.help == "copy it to the host first: `x.detach().cpu()`"


def test_a_reduction_of_numpy_needs_an_array() -> None:
    (found,) = check("c = torch.rand(3).cuda()\nnp.mean(c)  # DEV106", "DEV106")
    assert found.help == "copy it to the host first: `c.cpu().numpy()`"
    assert found.fix is not None
    assert [edit.content for edit in found.fix.edits] == [".cpu().numpy()"]
