"""Methods that only hand on what they are given are not interpreted on their own; what is found stays the same."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from devlint import check_paths
from devlint.interpreter.program.program import Program
from devlint.linter.file_analyser import FileAnalyser

HEAD = "import torch\nfrom torch import nn\n\n"

NET = """\
class Net(nn.Module):
    def __init__(self, rate: float = 0.1):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.rates = [one.item() for one in torch.linspace(0, rate, 3)]
        {}

    def mask(self, x):
        return {}

    def forward(self, x: torch.Tensor):
        y = self.first(x)
        {}
        return y

    def _later(self, x):
        {}
"""


class Calls:
    """An observer that records the functions in which expressions are evaluated."""

    def __init__(self) -> None:
        self.functions: set[str] = set()

    def see(self, frame: object, node: object, value: object) -> None:
        function = getattr(frame, "function", None)
        self.functions.add(function.name if function is not None else "")

    def bind(self, frame: object, node: object, value: object) -> None:
        pass


def interpreted(path: Path) -> set[str]:
    calls = Calls()
    FileAnalyser(Program([(path, path.name)]), frozenset({"DEV105"}), observer=calls).analyse(path.resolve())
    return calls.functions


def codes(folder: Path) -> list[str]:
    result = check_paths([folder], select=["DEV1", "DEV2", "DEV3"], isolated=True)
    assert not result.errors
    return [one.code for one in result.diagnostics]


def net(constructor: str = "pass", mask: str = "x", forward: str = "pass", later: str = "pass") -> str:
    return HEAD + NET.format(constructor, mask, forward, later)


def test_a_forward_that_only_hands_on_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(net())
    assert interpreted(path) & {"Net.__init__", "Net.forward", "Net.mask"} == {"Net.__init__"}
    path.write_text(net(mask="torch.zeros(3, device=x.device)"))
    assert interpreted(path) & {"Net.forward", "Net.mask"} == {"Net.mask"}
    path.write_text(net("self.weight = nn.Parameter(torch.ones(3))", forward="y = y * self.weight"))
    assert "Net.forward" not in interpreted(path)


USES = {
    "a tensor that is no buffer": ("self.table = torch.ones(3)", "x", "y = y + self.table", ["DEV103"]),
    "a buffer": ("self.register_buffer('table', torch.ones(3))", "x", "y = y + self.table", []),
    "what a method has made": ("pass", "torch.zeros(3)", "y = y + self.mask(x)", ["DEV105"]),
    "what a method has made there": ("pass", "torch.zeros(3, device=x.device)", "y = y + self.mask(x)", []),
    "what a helper has made": ("pass", "x", "y = y + make(3)", ["DEV105"]),
    "what a helper arranges": ("pass", "x", "y = y + arrange(x)", []),
    "what a method of a helper's result": ("pass", "make(3)", "y = y + self.mask(x)", ["DEV105"]),
    "what a part gives": ("self.part = Part()", "x", "y = y + self.part(x)", ["DEV105"]),
    "what a part in a container gives": (
        "self.parts = nn.Sequential(Part())",
        "x",
        "y = y + self.parts(x)",
        ["DEV105"],
    ),
    "what a part's base class gives": ("self.part = Special()", "x", "y = y + self.part(x)", ["DEV105"]),
    "a part in a list": ("self.parts = [nn.Linear(3, 3)]", "x", "y = self.parts[0](y)", ["DEV104"]),
    "an import inside": ("pass", "x", "from others import make_more; y = y + make_more(3)", ["DEV105"]),
    "a double buffer": (
        "self.register_buffer('wide', torch.ones(3, dtype=torch.float64))",
        "x",
        "y = y * self.wide",
        [],
    ),
}

HELPERS = """
def make(n):
    return torch.zeros(n)

def arrange(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, 3)

class Part(nn.Module):
    def forward(self, x):
        table = torch.arange(3)
        return table

class Special(Part):
    pass
"""


@pytest.mark.parametrize(("constructor", "mask", "forward", "found"), USES.values(), ids=USES)
def test_what_a_method_meets_decides(
    tmp_path: Path, constructor: str, mask: str, forward: str, found: list[str]
) -> None:
    (tmp_path / "others.py").write_text("import torch\n\ndef make_more(n):\n    return torch.zeros(n)\n")
    (tmp_path / "model.py").write_text(net(constructor, mask, forward) + HELPERS)
    assert codes(tmp_path) == found


def test_a_private_method_of_a_base_class_runs_where_another_calls_it(tmp_path: Path) -> None:
    text = """
        class Base(nn.Module):
            def forward(self, x):
                return self._apply(x)

            def _apply(self, x):
                return torch.matmul(x, self.matrix())

        class Net(Base):
            def matrix(self):
                return torch.eye(3{})
    """
    (tmp_path / "model.py").write_text(HEAD + dedent(text).format(""))
    assert codes(tmp_path) == ["DEV105"]
    (tmp_path / "model.py").write_text(HEAD + dedent(text).format(", device='cuda'"))
    assert codes(tmp_path) == []


def test_the_weights_that_a_helper_changes_count(tmp_path: Path) -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))

            def load(self, path):
                fill(self, path)

        @torch.no_grad()
        def fill(net: Net, path) -> None:
            net.weight.add_(torch.zeros(3){})
    """
    (tmp_path / "model.py").write_text(HEAD + dedent(text).format(""))
    assert codes(tmp_path) == ["DEV105"]
    (tmp_path / "model.py").write_text(HEAD + dedent(text).format(".to(net.weight)"))
    assert codes(tmp_path) == []
