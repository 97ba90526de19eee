"""Arithmetic in float16 on the host."""

from __future__ import annotations

import pytest

from devlint.diagnostic import Severity

from .programs import check

BAD = {
    "a product": """
x = torch.rand(8, 8).half()
y = x @ x  # DEV307
z = torch.matmul(x, x)
""",
    "made in float16": """
x = torch.ones(8, 8, dtype=torch.float16)
y = x * 2  # DEV307
""",
    "a module": """
net = nn.Linear(3, 3).half()
net(torch.ones(2, 3).half())  # DEV307
""",
    "a reduction": """
x = torch.rand(8, 8).to(torch.float16)
print(x.sum())  # DEV307
""",
    "after it was brought back": """
x = torch.rand(8, 8, device="cuda", dtype=torch.float16)
y = x.cpu().softmax(-1)  # DEV307
""",
}
GOOD = {
    "on the accelerator": """
x = torch.rand(8, 8, device="cuda").half()
y = x @ x
net = nn.Linear(3, 3).half().cuda()
net(torch.ones(2, 3, device="cuda").half())
""",
    "on the accelerator where there is one": """
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(8, 8).half().to(device)
y = x @ x
""",
    "other dtypes": """
x = torch.rand(8, 8).bfloat16()
y = x @ x
z = torch.rand(8, 8) * 2
""",
    "only moved, or looked at": """
x = torch.rand(8, 8).half()
y = torch.cat([x, x]).reshape(4, 32)[0].clone()
print(x.shape, x.dtype)
z = x.cuda()
torch.save(x, "x.pt")
""",
    "cast before": """
x = torch.rand(8, 8).half()
y = x.float() @ x.float()
""",
    "unknown dtypes and devices": """
def f(x: torch.Tensor, dtype, device: torch.device):
    a = x.half() @ x.half()
    b = torch.rand(3, 3, dtype=dtype) @ torch.rand(3, 3, dtype=dtype)
    c = torch.rand(3, 3, device=device).half()
    return a, b, c @ c
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV307")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV307")


def test_it_is_an_information() -> None:
    (found,) = check("x = torch.rand(8, 8).half()\ny = x @ x  # DEV307\n", "DEV307")
    assert found.severity is Severity.INFO
    assert found.message == "`x` is float16 on the host, where `@` is slow in float16"
