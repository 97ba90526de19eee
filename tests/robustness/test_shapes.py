"""Programs that nobody writes by hand, but that generators do: what stands beside them is found all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

import devlint
from devlint.linter.deep_stack import RECURSION_LIMIT
from devlint.syntax import statement

pytestmark = pytest.mark.usefixtures("outside_of_a_project")
HEAD = "import torch\nfrom torch import nn\n\n"
MODULE = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
PROBE = "probe = torch.zeros(3, device='cuda')\nprobe + torch.ones(3)\n"


def nested(levels: int, line: str, innermost: str) -> str:
    """A block in a block in a block; `{}` in the line is the level."""
    heads = [f"{' ' * level}{line.format(level)}\n" for level in range(levels)]
    return f"{''.join(heads)}{' ' * levels}{innermost}\n"


def many(count: int, text: str) -> str:
    """The same again and again; `{}` in the text is the number."""
    return "".join(text.replace("{}", str(number)) for number in range(count))


SHAPES = {
    "operands": "def f(x):\n    return " + " + ".join(["x"] * 500) + " + torch.ones(3)\nf(torch.ones(3))\n",
    "operands that are still read": "x = torch.ones(3)\ny = " + " + ".join(["x"] * 350) + "\n",
    "methods": "def f(x):\n    return x" + ".to('cuda').relu()" * 500 + "\nf(torch.ones(3))\n",
    "attributes": "def f(x):\n    return x" + ".a" * 500 + ".cuda()\nf(torch.ones(3))\n",
    "subscripts": "def f(x):\n    return x" + "[0]" * 500 + ".cuda()\nf([torch.ones(3)])\n",
    "parentheses": "x = " + "(" * 150 + "torch.ones(3)" + ")" * 150 + "\n",
    "lists": "x = " + "[" * 90 + "torch.ones(3)" + "]" * 90 + "\ny = x" + "[0]" * 90 + ".cuda()\n",
    "calls": "x = " + "torch.relu(" * 60 + "torch.ones(3)" + ")" * 60 + "\n",
    "lambdas": "f = " + "lambda x: " * 80 + "x.cuda()\nf" + "(torch.ones(3))" * 80 + "\n",
    "comprehensions": "x = " + "[" * 12 + "torch.ones(3)" + " for i in range(2)]" * 12 + "\n",
    "conditional expressions": "x = " + many(200, "torch.ones({}) if f == {} else ") + "None\n",
    "strings": "x = torch.ones(3)\ny = f'" + "{x}" * 300 + "'\n",
    "conditions": "x = torch.ones(3)\nif " + " and ".join(f"f.a{i}" for i in range(80)) + ":\n    x = x.cuda()\n",
    "blocks": "x = torch.ones(3)\n" + nested(90, "if f > {}:", "x = x.cuda()"),
    "loops": "x = torch.ones(3)\n" + nested(18, "for i{} in f:", "x = x.cuda() + x.cpu()"),
    "while loops": "x = torch.ones(3)\n" + nested(18, "while f({}):", "x = x.cuda() + x.cpu()"),
    "contexts": nested(18, "with torch.no_grad():", "x = torch.ones(3).cuda()"),
    "functions in functions": nested(80, "def f{}(x):", "return x.cuda()"),
    "branches": "if f == 'x': x = torch.ones(3)\n" + many(300, "elif f == {}: x = torch.ones({}).cuda()\n"),
    "decisions": "def f(x, a):\n    y = torch.ones(3)\n"
    + many(200, "    if a[{}]: y = y.cuda()\n")
    + "    return x + y\n",
    "cases": "match f:\n" + many(100, "    case {'k': [b, *c]} | ({}, b, *c): x = torch.ones(3)\n"),
    "elements": "x = [" + many(1000, "torch.ones({}), ") + "]\ny = torch.stack(x).cuda()\n",
    "keys": "x = {" + many(1000, "'k{}': torch.ones({}), ") + "}\nfor k, v in x.items(): x[k] = v.cuda()\n",
    "numbers": "x = torch.tensor([" + many(5000, "{}, ") + "]).cuda()\n",
    "lines": many(4000, "x{} = {} + 1\n"),
    "tensors": "def f(x):\n" + many(200, "    x{} = x + torch.ones({})\n") + "f(torch.ones(3).cuda())\n",
    "on one line": "x = torch.ones(3); " + many(500, "y{} = x + {}; ") + "\n",
    "functions": many(100, "def f{}(x):\n    y = torch.ones(3)\n    return x.cuda() + y\n"),
    "a ring of calls": many(100, "def f{}(x):\n    return f{}_(x.cuda()) + torch.ones(3)\nf{}_ = f{}\n")
    + "f0_ = f99\nf0(torch.ones(3))\n",
    "a web of calls": many(100, "def f{}(x):\n    for f in (f0, f1, f50): f(x)\n    return x.cuda()\n"),
    "recursion": "def f(x, n):\n    return "
    + " + ".join(["f(x.cuda(), n - 1)"] * 30)
    + " if n else x\nf(torch.ones(3), 9)\n",
    "recursion in a loop": "def f(x, n):\n    for y in (x, x.cuda(), x, x, x, x, x, x):\n        if n: f(y, n - 1)\n"
    + "    return x\nf(torch.ones(3), 9)\n",
    "decorators": "def d(f): return lambda *a, **k: f(*a, **k)\n"
    + "@d\n" * 100
    + "def f(x): return x.cuda()\nf(torch.ones(3))\n",
    "generators": "def f0(x): yield x.cuda()\n"
    + "".join(f"def f{i}(x):\n    yield from f{i - 1}(x)\n" for i in range(1, 60))
    + "for x in f59(torch.ones(3)): x.cpu()\n",
    "bases": "class C(nn.Module):\n    def forward(self, x): return x\n"
    + many(100, "class C(C):\n    def forward(self, x): return super().forward(x) + torch.ones(3)\n")
    + "C().cuda()(torch.ones(3))\n",
    "modules in modules": MODULE
    + "        self.a = nn.Linear(3, 3)\n"
    + many(
        40,
        "class N(nn.Module):\n    def __init__(self, inner=M):\n        super().__init__()\n"
        "        self.a, self.b = inner(), inner()\nM = N\n",
    )
    + "M().cuda()\n",
    "layers": "m = nn.Sequential(" + "nn.Linear(3, 3), " * 500 + ").cuda()\nm(torch.ones(3))\n",
    "attributes of a module": MODULE
    + many(200, "        self.a{} = torch.ones(3)\n")
    + "    def forward(self, x):\n"
    + many(200, "        x = x + self.a{}\n")
    + "        return x\n",
    "globals": "G = torch.ones(3)\n" + many(100, "def f{}(x):\n    global G\n    G = G.to(x.device) + x\n    f{}(G)\n"),
    "imports": many(500, "import m{}\nfrom p{} import q{}\n"),
    "parameters": f"def f({', '.join(f'a{i}' for i in range(250))}): return a0 + torch.ones(3)\n"
    f"f({', '.join('torch.ones(3).cuda()' for _ in range(250))})\n",
    "a class that libcst cannot parse": "class C:\n    def f(self):\n        (x): int\n"
    "        self.x = torch.ones(3).cuda()\n"
    "class D(C):\n    def f(self):\n        return self.x.cpu()\n"
    "def g():\n    return C().f(torch.ones(3).cuda()) + D().f()\n",
    "a function that only libcst could parse, but cannot": "def f(x):\n    match x:\n        case _: (x): int\n"
    "    return x.cuda()\nf(torch.ones(3))\n",
    "a function that libcst cannot parse": "def f(x):\n    (x): int\n    return x.cuda()\nf(torch.ones(3))\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_rest_of_the_file_is_analysed(shape):
    program = HEAD.replace("\n\n", "\nfrom somewhere import f\n") + SHAPES[shape] + PROBE
    result = devlint.check_source(program, select=["ALL"], isolated=True)
    assert [f"{error.where}: {error.message}\n{error.traceback}" for error in result.errors] == []
    last = program.count("\n")
    assert "DEV101" in {found.code for found in result.diagnostics if found.region.start.row == last}


def test_a_statement_that_is_left_out_is_named_under_verbose(tmp_path):
    program = tmp_path / "a.py"
    program.write_text(HEAD + SHAPES["a function that only libcst could parse, but cannot"] + PROBE)
    command = [sys.executable, "-m", "devlint", "--isolated", "--output-format", "concise", "a.py", "--verbose"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "a.py:10:1: DEV101" in done.stdout
    assert "a.py:4: a statement is left out: libcst cannot parse the statement" in done.stderr
    assert "internal error" not in done.stderr


UNPARSED = "    match 0:\n        case _: (x): int\n"
"""A statement of a block that Python can parse and libcst cannot."""
BESIDE_CUDA_ONLY_CODE = {
    "a helper that is called": f"def check(x):\n{UNPARSED}    assert x.is_cuda\n"
    "def peak(device):\n    with torch.cuda.device(device):\n        return 1\n"
    "def run(x):\n    check(x)\n    return peak(x.device)\n",
    "a caller": "def peak(x):\n    torch.cuda.synchronize()\n"
    f"def run(x):\n{UNPARSED}    if torch.cuda.is_available():\n        peak(x)\n",
    "a caller of kernels": "import deep_ep_cuda\nfrom deep_ep import go\n"
    f"def run(x):\n{UNPARSED}    go(x)\n    torch.cuda.synchronize()\n",
    "a block that binds kernels": f"from deep_ep import go\nif go:\n{UNPARSED}    run = go\n"
    "def peak():\n    torch.cuda.synchronize()\n",
    "a constructor": "class Net:\n    def __init__(self):\n        match 0:\n            case _: (x): int\n"
    "        assert torch.cuda.is_available()\n    def peak(self):\n        torch.cuda.synchronize()\n",
}


@pytest.mark.parametrize("shape", BESIDE_CUDA_ONLY_CODE)
def test_code_beside_a_statement_that_libcst_cannot_parse_is_analysed(tmp_path, shape):
    (tmp_path / "a.py").write_text(HEAD + BESIDE_CUDA_ONLY_CODE[shape] + PROBE)
    command = [sys.executable, "-m", "devlint", "--isolated", "--select", "ALL", "--output-format", "concise", "a.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "DEV101" in done.stdout
    assert "internal error" not in done.stderr


def test_a_finding_in_a_statement_that_libcst_cannot_parse_stands_at_its_start(tmp_path):
    program = HEAD + "def f(x):\n    (y): int = 1\n    return torch.ones(3, device='cuda') + torch.ones(3)\n"
    result = devlint.check_source(program, select=["DEV101"], isolated=True)
    (found,) = result.diagnostics
    assert (found.region.start.row, found.region.start.column) == (HEAD.count("\n") + 1, 1)
    assert found.fix is None


def test_of_a_large_registry_nothing_is_known():
    register = "KEPT = {}\ndef register(make):\n    KEPT[make.__name__] = make\n    return make\n"
    made = many(100, "@register\ndef make{}():\n    return torch.ones(3, device='cuda')\n")
    uses = "reveal_placement(KEPT['make0']())\nreveal_placement(KEPT['make99']())\nprint('make99' in KEPT)\n"
    result = devlint.check_source(HEAD + register + made + uses, isolated=True)
    told = [one.message for one in result.diagnostics]
    assert told == ["KEPT['make0'](): unknown", "KEPT['make99'](): unknown"]


def test_a_finding_in_what_is_too_deep_to_tell_its_place_points_at_the_statement(monkeypatch):
    monkeypatch.setattr("devlint.syntax.code_regions._CODEGEN_FRAMES", 500 - RECURSION_LIMIT)
    strings = "'a' " * 1_000
    found = devlint.check_source(f"{HEAD}{PROBE}probe + torch.ones(3); x = {strings}\n", isolated=True).diagnostics
    assert [(one.code, one.region.start.row, one.region.start.column) for one in found] == [
        ("DEV101", 5, 1),
        ("DEV101", 6, 1),
    ]


def test_a_fix_that_fails_loses_nothing_but_itself(monkeypatch):
    def fail(region, node):
        raise ValueError("oops")

    monkeypatch.setattr("devlint.fixes.fix_context.NodeRegion.span", fail)
    source = HEAD + PROBE + 'y = torch.ones(3)\ny.to("cuda")\nprint(y)\n'
    result = devlint.check_source(source, isolated=True)
    assert [(one.code, one.fix) for one in result.diagnostics] == [("DEV101", None), ("DEV201", None)]
    assert "ValueError: oops" in {error.message for error in result.errors}


def test_code_without_findings_is_not_parsed_by_libcst(monkeypatch):
    program = """
class Net(nn.Module):
    def forward(self, x, mask=None):
        device = "cuda" if self.fast else "cpu"
        if mask is not None and x.is_cuda:
            mask = mask.to(x.device)
        scale = torch.ones(3, device=x.device) if self.fast else 2
        return x * scale + mask

def main(args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return Net().to(device)(torch.ones(3, device=device))
"""
    parsed = []
    parse = statement.try_parse_libcst
    monkeypatch.setattr(statement, "try_parse_libcst", lambda text: parsed.append(text) or parse(text))
    assert devlint.check_source(HEAD + program, select=["ALL"], isolated=True).diagnostics == ()
    assert parsed == []
    assert devlint.check_source(HEAD + PROBE, select=["ALL"], isolated=True).diagnostics
    assert parsed


def test_a_decorator_that_is_not_followed_and_may_call_its_function_ends(tmp_path):
    (tmp_path / "plain.py").write_text("def quiet(function):\n    return function\n")
    program = tmp_path / "a.py"
    program.write_text(
        "import torch\nfrom plain import quiet\n\n"
        "def make(x):\n    seen = []\n\n"
        "    @quiet\n    def note(one):\n        seen.append(one)\n        return one\n\n"
        "    return note(x)\n\n"
        "def outer(x):\n    make(torch.ones(3, device='cuda'))\n    "
        "return torch.ones(3, device='cuda') + torch.ones(3)\n"
    )
    result = devlint.check_paths([program], select=["DEV101"], isolated=True)
    assert not result.errors
    assert [found.region.start.row for found in result.diagnostics] == [16]
