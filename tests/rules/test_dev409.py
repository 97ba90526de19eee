"""Tensors rebuilt from tensors."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "through an array": """
x = torch.rand(3, device="cuda")
a = torch.tensor(x.cpu().numpy())  # DEV409
b = torch.from_numpy(x.detach().cpu().numpy())  # DEV409
c = torch.as_tensor(x.cpu().numpy(), device="cuda")  # DEV409
""",
    "through a name": """
def keep(x: torch.Tensor):
    values = x.detach().cpu().numpy()
    return torch.tensor(values)  # DEV409
""",
    "through an old tensor type": """
def keep(x: torch.Tensor):
    return torch.FloatTensor(x.detach().cpu().numpy())  # DEV409
""",
    "torch.tensor of a tensor": """
x = torch.rand(3)
y = torch.tensor(x)  # DEV409
z = torch.tensor(x * 2, dtype=torch.float32)  # DEV409
""",
}

GOOD = {
    "NumPy work in between": """
x = torch.rand(3)
a = torch.tensor(np.median(x.numpy(), axis=0))
b = x.numpy()
b = b * 2
c = torch.from_numpy(b)
d = torch.from_numpy(x.numpy() + 1)
""",
    "the array is used as well": """
def split(x: torch.Tensor):
    values = x.numpy()
    np.save("x.npy", values)
    return torch.from_numpy(values)
""",
    "staying in torch": """
x = torch.rand(3)
y = x.detach().clone()
z = torch.as_tensor(x)
w = torch.asarray(x)
""",
    "host data": """
a = torch.tensor([1, 2, 3])
b = torch.tensor(np.zeros(3))
c = torch.from_numpy(np.load("x.npy"))
d = torch.tensor(3.0)
""",
    "numbers read from a tensor": """
x = torch.rand(3)
y = torch.tensor(x.sum().item())
z = torch.tensor(x.tolist())
w = torch.tensor([float(x[0]), float(x[1])])
""",
    "what becomes a tensor only here": """
def sample(batch):
    batch = torch.tensor(batch)
    return batch.numel()
""",
    "what may be a list": """
def wrap(values):
    return torch.tensor(values)
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV409")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV409")


def test_the_message_names_the_tensor_that_makes_the_detour() -> None:
    (found,) = check("x = torch.rand(3)\ny = torch.tensor(x.numpy())  # DEV409\n", "DEV409")
    assert found.message == "`x` becomes a NumPy array and a tensor again: a detour that changes nothing"
