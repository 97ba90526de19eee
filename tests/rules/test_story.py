"""How findings are worded, whatever the source looks like."""

from __future__ import annotations

import pytest

from .programs import check


def message(source: str) -> str:
    (finding,) = check(source, "DEV1")
    return finding.message


def test_an_expression_is_quoted_on_one_line_and_without_comments() -> None:
    told = message(
        """
x = torch.ones(3).cuda()
y = x * torch.relu(  # DEV101
    torch.ones(3)  # all ones
)
"""
    )
    assert told == "`torch.relu( torch.ones(3) )` is on cpu but `x` is on cuda: they cannot be combined in `*`"


def test_a_string_with_a_number_sign_is_quoted_whole() -> None:
    told = message('d = {"#1": torch.ones(3)}\ny = torch.ones(3).cuda() * d["#1"]  # DEV101')
    assert told.startswith('`d["#1"]` is on cpu')


def test_a_long_expression_loses_its_middle() -> None:
    told = message(
        """
x = torch.ones(3).cuda()
y = x * torch.relu(torch.relu(torch.relu(torch.ones(3) + torch.ones(3))))  # DEV101
"""
    )
    assert "`torch.relu(torch.r...+ torch.ones(3))))` is on cpu" in told


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("torch.cuda.is_available()", "torch.cuda.is_available()"),
        ("args.gpu is not None", "args.gpu is not None"),
        ("not args.no_cuda", "not args.no_cuda"),
        ("torch.cuda.is_available() and not args.no_cuda", "not args.no_cuda and torch.cuda.is_available()"),
    ],
)
def test_a_condition_is_told_as_it_is_written(condition: str, told: str) -> None:
    assert message(
        f"""
def main(args):
    device = "cuda" if {condition} else "cpu"
    return torch.ones(3, device=device) * torch.ones(3)  # DEV101
"""
    ).endswith(f"they cannot be combined in `*` when {told}")


def test_no_step_is_told_twice() -> None:
    (finding,) = check(
        """
def make():
    return torch.ones(3)

x = make()
y = x + x.cuda()  # DEV101
""",
        "DEV1",
    )
    places = [note.region for note in finding.trace]
    assert len(places) == len(set(places)) == 2
