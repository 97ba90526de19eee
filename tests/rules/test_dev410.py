"""Indices of the host into accelerator tensors."""

from __future__ import annotations

import pytest

from devlint.diagnostic import Severity

from .programs import check

DATA = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = torch.rand(100, 6, device="cuda")
"""
BAD = {
    "a permutation": """
def run(n: int):
    for _ in range(n):
        print(data[torch.randperm(100)[:8]])  # DEV410
""",
    "a list and an array": """
def run(n: int):
    rows = [1, 2, 3]
    for _ in range(n):
        print(data[rows], data.mean())  # DEV410
        print(data[np.arange(4), 2])  # DEV410
""",
    "a mask of the host": """
def run(n: int):
    for _ in range(n):
        kept = torch.rand(100) > 0.5
        print(data[kept])  # DEV410
""",
    "written to": """
def run(n: int):
    for _ in range(n):
        data[torch.arange(4)] = 0.0  # DEV410
        data[:, [1, 2]] = 0.0  # DEV410
""",
    "when there is an accelerator": """
def run(n: int):
    x = torch.rand(100, 3).to(device)
    for _ in range(n):
        print(x[torch.randperm(100)])  # DEV410
""",
}

GOOD = {
    "made there": """
def run(n: int):
    for _ in range(n):
        print(data[torch.randperm(100, device="cuda")], data[data[:, 0] > 0.5])
""",
    "numbers and slices": """
def run(n: int):
    for i in range(n):
        print(data[i], data[1:3], data[..., None], data[i, 2], data[-1])
        data[i] = 0.0
""",
    "a tensor that may be a number": """
def run(n: int, index: torch.Tensor):
    for _ in range(n):
        print(data[torch.tensor(3)], data[index])
""",
    "on the host": """
def run(n: int):
    table, index = torch.rand(100, 6), torch.randperm(100)
    for _ in range(n):
        print(table[index], table[[1, 2]], np.zeros(3)[[1, 2]])
""",
    "moved before": """
def run(n: int):
    index = torch.randperm(100).to("cuda")
    for _ in range(n):
        print(data[index])
""",
    "an accelerator's index into a host tensor, which is an error": """
def run(n: int):
    table = torch.rand(100, 6)
    for _ in range(n):
        print(table[torch.arange(3, device="cuda")])
""",
    "a dict": """
def run(n: int):
    parts = {"a": data}
    for _ in range(n):
        print(parts["a"], [data][0])
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    assert {one.severity for one in check(DATA + source, "DEV410")} == {Severity.WARNING}


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(DATA + source, "DEV410")


def test_what_runs_once_is_an_information() -> None:
    (found,) = check(DATA + "print(data[[1, 2]])  # DEV410\n", "DEV410")
    assert found.severity is Severity.INFO
    assert found.message == "the list `[1, 2]` on the host is copied to cuda to index `data`"


@pytest.mark.parametrize(
    ("index", "advice"),
    [
        ("torch.randperm(100)[:8]", "make it where `data` is: pass `device=data.device` to `torch.randperm`"),
        ("torch.rand(100) > 0.5", "make it where `data` is: pass `device=data.device` to `torch.rand`"),
        (
            "torch.from_numpy(rows)",
            "make it where `data` is, or move it once where it stays the same: `kept.to(data.device)`",
        ),
        ("[1, 2]", "make a tensor of it once, where it stays the same: `torch.as_tensor(kept, device=data.device)`"),
    ],
)
def test_the_advice_is_for_what_the_index_is(index: str, advice: str) -> None:
    source = f"""
def run(n: int):
    rows = np.arange(4)
    for _ in range(n):
        kept = {index}
        print(data[kept])  # DEV410
"""
    (found,) = check(DATA + source, "DEV410")
    assert found.help == advice
