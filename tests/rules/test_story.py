"""How findings are worded, whatever the source looks like."""

from __future__ import annotations

import pytest

from devlint.domain.path_conditions import Atom, Literal
from devlint.explain.device_texts import condition_text

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


def test_a_long_expression_loses_what_stands_in_its_brackets() -> None:
    told = message(
        """
x = torch.ones(3).cuda()
y = x * torch.relu(torch.relu(torch.relu(torch.ones(3) + torch.ones(3))))  # DEV101
"""
    )
    assert "`torch.relu(...)` is on cpu" in told


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
    ).endswith(f"they cannot be combined in `*` when `{told}`")


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


def test_each_step_names_the_operand_of_which_it_tells() -> None:
    (finding,) = check("x = torch.ones(3)\ny = torch.ones(3).cuda()\nz = x * y  # DEV101", "DEV1")
    assert [note.message for note in finding.trace] == [
        "`x` created on the host by `torch.ones`, which was given no device",
        "`y` moved to cuda by `.cuda()`",
    ]


HOST = "created on the host by `torch.zeros`, which was given no device"

PLAIN_ATTRIBUTES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.parts = [torch.zeros(3) for _ in range(3)]

    def forward(self, x):
        return self.fc(x) * {}

net = Net().cuda()
net(torch.rand(3, 3, device="cuda"))
"""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        # An operand that was computed from another value: the step has the name of that value.
        ("x = torch.rand(3).cuda()\ny = (x > 0) * torch.zeros(3)  # DEV101", "`x` moved to cuda by `.cuda()`"),
        (
            "net = nn.Linear(3, 3).cuda()\nloss = net(torch.zeros(3))  # DEV102",
            "the weights of `net` moved to cuda by `.cuda()`",
        ),
        (
            "net = nn.Linear(3, 3).cuda()\nx = torch.rand(3).cuda()\nloss = net(x)\nloss * torch.zeros(3)  # DEV101",
            "`net` moved to cuda by `.cuda()`; `loss` comes from it",
        ),
        (
            "x = torch.rand(3).cuda()\ny = x.sum(0, True)\ny * torch.zeros(3)  # DEV101",
            "`x` moved to cuda by `.cuda()`; `y` comes from it",
        ),
        # No name is right: the value that was moved has none, and what is computed from it is another one.
        (
            "y = torch.rand(3, device='cuda').cumsum(0)\ny * torch.zeros(3)  # DEV101",
            "`y` comes from a value created on cuda by `torch.rand`",
        ),
        (
            "y = F.relu(torch.rand(3).cuda())\ny * torch.zeros(3)  # DEV101",
            "`y` comes from a value moved to cuda by `.cuda()`",
        ),
        # The value itself, by the name that it has at the step, or else at the operation.
        ("a, b = torch.rand(3).cuda(), 1\na * torch.zeros(3)  # DEV101", "`a` moved to cuda by `.cuda()`"),
        (
            "a = torch.empty(3, device='cuda').fill_(1)\na * torch.zeros(3)  # DEV101",
            "`a` created on cuda by `torch.empty`",
        ),
        ("h = torch.rand(3)\nF.relu(h.cuda()) * torch.zeros(3)  # DEV101", "`h` moved to cuda by `.cuda()`"),
        (
            "def make():\n    return torch.rand(3, device='cuda')\n\na = make()\na * torch.zeros(3)  # DEV101",
            "`a` created on cuda by `torch.rand`",
        ),
        (
            "def make():\n    return torch.rand(3, device='cuda')\n\na = make() + 1\na * torch.zeros(3)  # DEV101",
            "`a` comes from a value created on cuda by `torch.rand`",
        ),
        (
            "def add(a, b):\n    return a * b  # DEV101\n\nadd(torch.rand(3).cuda(), torch.zeros(3))",
            "`a` moved to cuda by `.cuda()`",
        ),
        (
            "d = {}\nd['x'] = torch.rand(3).cuda()\nd['x'] * torch.zeros(3)  # DEV101",
            "`d['x']` moved to cuda by `.cuda()`",
        ),
        ("if (a := torch.rand(3).cuda()).dim():\n    a * torch.zeros(3)  # DEV101", "`a` moved to cuda by `.cuda()`"),
    ],
)
def test_a_step_names_the_value_to_which_it_happened(source: str, told: str) -> None:
    (finding,) = check(source, "DEV1")
    assert told in [note.message for note in finding.trace]
    assert [note.message for note in finding.trace if note.message.endswith(told)] == [told]


@pytest.mark.parametrize(
    ("operand", "told"),
    [
        ("self.parts[0]", [f"`self.parts[0]` {HOST}", "`self.parts[0]` kept in the plain attribute `parts`"]),
        (
            "(self.parts[0] + 1)",
            [f"`(self.parts[0] + 1)` comes from a value {HOST}", "kept in the plain attribute `parts`"],
        ),
    ],
)
def test_the_name_of_a_container_is_not_that_of_its_elements(operand: str, told: list[str]) -> None:
    source = PLAIN_ATTRIBUTES.format(operand)
    (finding,) = check(source.replace("range(3)]", "range(3)]  # DEV103"), "DEV103")
    for note, start in zip(finding.trace, told, strict=False):
        assert note.message.startswith(start)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "for x, y in DataLoader(data):\n        net(x)  # DEV102",
            "`x` comes from a DataLoader, which yields host tensors",
        ),
        (
            "for x, y in DataLoader(data):\n        net(x.view(3))  # DEV102",
            "data comes from a DataLoader, which yields host tensors",
        ),
        (
            "for batch in DataLoader(data):\n        x, y = batch\n        net(x)  # DEV102",
            "`batch` comes from a DataLoader, which yields host tensors; `x` comes from it",
        ),
    ],
)
def test_what_a_loader_yields_is_named_as_the_loop_names_it(source: str, told: str) -> None:
    start = "from torch.utils.data import DataLoader\n\ndef main(data):\n    net = nn.Linear(3, 3).cuda()\n    "
    (finding,) = check(f"{start}{source}", "DEV102")
    assert told in [note.message for note in finding.trace]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "a = torch.rand(3, 3)\nb = torch.rand(3, 3, dtype=torch.float64)\na @ b  # DEV302",
            [
                "`a` made in float32 by `torch.rand`, torch's default",
                "`b` made in float64 by `torch.rand`, as its `dtype=` says",
            ],
        ),
        (
            "net = nn.Linear(3, 3)\nx = torch.rand(2, 3).to('cpu', torch.bfloat16)\nnet(x)  # DEV302",
            [
                "`x` cast to bfloat16 by `.to()`",
                "the weights of `net` made in float32 by `nn.Linear`, torch's default",
            ],
        ),
        (
            "real = torch.full((8,), 1)\nnn.BCELoss()(torch.rand(8), real)  # DEV304",
            ["`real` made in int64 by `torch.full`"],
        ),
        (
            "real = torch.tensor([0, 1]) * 1\nnn.BCELoss()(torch.rand(2), real)  # DEV304",
            ["`real` comes from a value made in int64 by `torch.tensor`"],
        ),
        (
            "row = torch.arange(8) / 2\ntorch.rand(8)[row]  # DEV305",
            ["`row` made in float32 by `/`, torch's default"],
        ),
    ],
)
def test_the_story_of_a_dtype_tells_where_each_dtype_comes_from(source: str, told: list[str]) -> None:
    (finding,) = check(source, "DEV3")
    assert [note.message for note in finding.trace] == told


def test_of_a_long_condition_the_rest_is_counted() -> None:
    tests = frozenset(Literal(Atom(("true", name), name * 40), True) for name in "abcd")
    assert condition_text(tests) == f" when `{'a' * 40}` and 3 more conditions"
    assert condition_text(frozenset(sorted(tests, key=str)[:2])) == f" when `{'a' * 40}` and 1 more condition"


def test_a_condition_that_is_no_code_is_not_quoted() -> None:
    told = message(
        """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--where", type=torch.device, default=torch.device("cuda"))
x = torch.ones(3).to(parser.parse_args().where)
print(x * torch.ones(3))  # DEV101
"""
    )
    assert told.endswith("when --where is left at its default")


def test_no_advice_leaves_the_device_open() -> None:
    findings = check(
        """
x = torch.rand(3, device="cuda")
y = torch.relu(torch.rand(3)) + torch.relu(x)  # DEV101
torch.randn(3, device="cuda", generator=torch.Generator())  # DEV109
table = torch.rand(9)
table[torch.tensor([1, 2], device="cuda")]  # DEV107
""",
        "DEV1",
    )
    assert len(findings) == 3
    assert not any("..." in (one.help or "") for one in findings)
