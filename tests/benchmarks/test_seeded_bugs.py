from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from devlint.diagnostic import Confidence, Diagnostic, Note, Position, Region, Severity

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from knowledge import SyntacticTensors, measure, regions_of
from seeded_bugs import Checkout, draw, is_found, new_findings, sites_of
from seeded_operators import OPERATORS, Mutation, mutations_of
from tensor_flow import FileFacts

MODULE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x: torch.Tensor):
        {used}
"""
TRAINING = """
model = Net().to(device)
criterion = nn.CrossEntropyLoss()
for x, y in train_loader:
    {moved}
    out = model(x)
    loss = criterion(out, {target})
    loss.backward()
    {after}
"""


def module(made: str, used: str) -> str:
    return MODULE.format(made=made, used=used)


def training(moved: str, *, target: str = "y", after: str = "pass") -> str:
    return TRAINING.format(moved=moved, target=target, after=after)


FACTORY = "def f(x, n):\n    mask = torch.{made}\n    return x * {used}\n"
INDEX = "def f(x, n):\n    index = {made}.long()\n    return {used}\n"

LOADED_ON_DEVICE = "x = x.float().to(device)\ntrain_loader = DataLoader(TensorDataset(x[:9], y))" + training(
    "x = x.to(device)"
)
LOADED_MODEL = """
model = Net().to(device)
def check(loader):
    model = torch.load("model.pt")
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        out = model(x)
"""

VALID = {
    "REG": [
        (module("self.register_buffer('b', torch.zeros(3))", "return x + self.b"), "self.b = torch.zeros(3)"),
        (module("self.register_buffer('b', torch.tensor(mean))", "return x - self.b.view(1, -1)"), "self.b = torch.t"),
    ],
    "DISCARD": [("def f(x, device):\n    x = x.to(device)\n    return x.view(-1) * 2\n", "\n    x.to(device)\n")],
    "FACTORY": [(FACTORY.format(made="ones(n, device=x.device)", used="mask"), "torch.ones(n)")],
    "FORGET": [
        (training("x = x.to(device); y = y.to(device)"), "x = x;"),
        (training("seen = next(iter(train_loader)); x = x.to(device)").replace("; ", "\n    "), "x = x\n"),
    ],
    "NUMPY": [(training("x = x.to(device)", after="show(out.detach().cpu().numpy())"), "out.detach().numpy()")],
    "GRAD": [
        ("def train(x):\n    loss = f(x)\n    loss.backward()\n    log(loss.detach().cpu().numpy())\n", "loss.cpu()")
    ],
    "LIST": [
        (
            module(
                "self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])",
                "for layer in self.layers:\n            x = layer(x)",
            ),
            "self.layers = [nn.Linear(3, 3) for _ in range(3)]",
        )
    ],
    "DOUBLE": [
        (
            "model = Net()\n\ndef f():\n    x = torch.from_numpy(np.zeros(3)).float()\n    return model(x)\n",
            "from_numpy(np.zeros(3))\n",
        ),
        (
            "def f():\n    net = nn.DataParallel(Net()).to(d)\n    net = DDP(net)\n"
            "    return net(torch.from_numpy(np.zeros(3)).float())\n",
            "from_numpy(np.zeros(3)))\n",
        ),
    ],
    "LOOP": [(training("x, y = x.to(device), y.to(device)"), "for part in [x, y]:\n        part = part.to(device)\n")],
    "DTYPE": [
        (training("x = x.to(device)", target="y.long()"), "y.float()"),
        (training("x = x.to(device)"), "model(x.double())"),
    ],
    "INDEX": [(INDEX.format(made="(torch.rand(n) * n)", used="x[index]"), "(torch.rand(n) * n)\n")],
    "GENERATOR": [
        (
            "def f(device):\n    g = torch.Generator(device=device)\n    torch.rand(3, generator=g, device=device)\n",
            "torch.Generator()",
        )
    ],
}
INVALID = {
    "REG": [
        module("self.register_buffer('b', torch.zeros(3))", "return x + self.b.to(x.device)"),
        module("self.register_buffer('b', torch.tensor(0.5))", "return x + self.b"),
        module("self.register_buffer('b', torch.zeros(3, device=device))", "return x + self.b"),
        module("self.register_buffer('b', torch.zeros(3))", "return x.shape[0] + self.b"),
    ],
    "DISCARD": [
        "def f(model, device):\n    model = model.to(device)\n    return model * 2\n",
        "def f(batch, device):\n    batch = batch.to(device)\n    return batch['x'], batch.shape\n",
        "def f(x):\n    x = x.to('cpu')\n    return x.view(-1)\n",
        "def f(x, device):\n    x = x.to(device)\n    return 1\n",
    ],
    "FACTORY": [
        FACTORY.format(made="ones((), device=x.device)", used="mask"),
        FACTORY.format(made="ones(n, device=x.device)", used="mask.to(x.device)"),
        FACTORY.format(made="ones(n, device=x.device)", used="mask.sum()"),
        FACTORY.format(made="ones(n, device='cpu')", used="mask"),
    ],
    "FORGET": [
        training("x = x.to(device)").replace("Net()", "nn.DataParallel(Net())"),
        training("x = x.to(device); x = x.to(device)"),
        training("z = y.to(device)"),
        training("seen = iter(train_loader).next(); x = x.to(device)").replace("; ", "\n    "),
        training("seen = train_loader.__iter__().next(); x = x.to(device)").replace("; ", "\n    "),
        LOADED_ON_DEVICE,
        LOADED_MODEL,
    ],
    "NUMPY": [
        training("pass", after="show(y.cpu().numpy())"),
        "def f(y, device):\n    show(y.cpu().numpy())\n    y = y.to(device)\n    return y\n",
    ],
    "GRAD": [
        "def train(x):\n    loss = f(x)\n    loss.backward()\n    log(loss.argmax().detach().cpu().numpy())\n",
        "def train(x):\n    with torch.no_grad():\n        out = model(x)\n    log(out.detach().numpy())\n",
    ],
    "LIST": [
        module("self.layers = nn.ModuleList([nn.ReLU()])", "for layer in self.layers:\n            x = layer(x)"),
        module("self.layers = nn.ModuleList([nn.Linear(3, 3)])", "return x"),
        module("self.layers = nn.ModuleList()", "for layer in self.layers:\n            x = layer(x)")
        + "    class Inner(nn.Module):\n        def add(self):\n            self.layers.append(nn.Linear(3, 3))\n",
    ],
    "DOUBLE": [
        "def f(model):\n    x = torch.from_numpy(np.zeros(3)).float()\n    return model(x)\n",
        "model = Net()\ndef f(a):\n    x = torch.from_numpy(a).float()\n    return model(x)\n",
        "model = torch.load(p)\ndef f():\n    x = torch.from_numpy(np.zeros(3)).float()\n    return model(x)\n",
        "net = Net()\ndef f():\n    x = torch.from_numpy(np.zeros(3)).float()\n    x = x.type(torch.float32)\n"
        "    return net(x)\n",
        "def f(model):\n    x = torch.from_numpy(np.zeros(3)).float()\n    return x\n",
    ],
    "LOOP": [training("x = x.to(device); x = x.to(device)"), LOADED_ON_DEVICE, LOADED_MODEL],
    "DTYPE": [
        training("x = x.to(device)").replace("Net()", "make_net()"),
        "def check(model):\n    model.to(device)\n    for x, y in loader:\n        x = x.to(device)\n"
        "        out = model(x)\n",
        training("x = x.to(device)", target="y.long()").replace("CrossEntropyLoss", "MSELoss").replace("to(", "t("),
    ],
    "INDEX": [
        INDEX.format(made="torch.arange(n)", used="x[index]"),
        INDEX.format(made="torch.rand(n)", used="x * index"),
    ],
    "GENERATOR": [
        "def f(n, d):\n    g = torch.Generator(device=d)\n    return torch.rand(n, generator=g).to(d)\n",
        """
def f(n, device):
    if n:
        raise NotImplementedError
        g = torch.Generator(device=device)
        return torch.rand(n, generator=g, device=device)
""",
    ],
}


def mutants(operator: str, text: str) -> list[str]:
    return [one.apply(text.encode()).decode() for one in mutations_of(text, frozenset({operator}))]


@pytest.mark.parametrize(("operator", "text", "expected"), [(k, *one) for k, some in VALID.items() for one in some])
def test_operator_makes_a_bug(operator: str, text: str, expected: str):
    assert any(expected in one for one in mutants(operator, text)), mutants(operator, text)


@pytest.mark.parametrize(("operator", "text"), [(k, one) for k, some in INVALID.items() for one in some])
def test_operator_leaves_what_would_be_no_bug(operator: str, text: str):
    assert mutants(operator, text) == []


def test_every_operator_is_tested_on_both_sides():
    assert set(VALID) == set(INVALID) == set(OPERATORS)


def region(row: int, file: str = "a.py") -> Region:
    return Region(file, Position(row, 1), Position(row, 9))


def finding(code: str, row: int, *trace: int, file: str = "a.py") -> Diagnostic:
    notes = tuple(Note("a step", region(one)) for one in trace)
    return Diagnostic(code, "name", Severity.ERROR, Confidence.CERTAIN, "text", region(row, file), notes)


def test_code_that_a_constant_switches_off_is_left():
    moves = training("x = x.to(device)")
    inside = "".join(f"    {line}\n" for line in moves.splitlines())
    assert [*mutations_of(f"on = True\nif on:\n{inside}")]
    assert not [*mutations_of(f"on = False\nif on:\n{inside}")]


def test_only_findings_that_were_not_there_before_are_new():
    before = [finding("DEV101", 3), finding("DEV101", 9)]
    after = [finding("DEV101", 3), finding("DEV101", 10), finding("DEV201", 5)]
    assert [one.code for one in new_findings(before, after, "a.py", last_row=5, added=1)] == ["DEV201"]


@pytest.mark.parametrize(
    ("operator", "new", "found"),
    [
        ("FACTORY", finding("DEV101", 2), True),
        ("FACTORY", finding("DEV101", 4), True),
        ("FACTORY", finding("DEV101", 5), False),
        ("FACTORY", finding("DEV101", 5, 2), True),
        ("FACTORY", finding("DEV101", 2, file="b.py"), False),
        ("DISCARD", finding("DEV101", 2), False),
        ("DISCARD", finding("DEV201", 2), True),
    ],
)
def test_a_change_is_found_at_its_statement_or_its_names(operator: str, new: Diagnostic, found: bool):
    lines = ["def f(y):", "    x = torch.zeros(3)", "    z = 1", "    return y + x", "other = y"]
    mutation = Mutation(operator, 0, 0, "", 2, 2, frozenset({"x"}))
    assert is_found([new], "a.py", lines, mutation, 0) is found


def test_sites_are_drawn_from_files_that_users_run(tmp_path: Path):
    for name in ("model.py", "tests/model.py", "test_model.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("import torch\n" + VALID["FACTORY"][0][0])
    sites = sites_of(tmp_path, frozenset(OPERATORS))
    assert [one.file for one in sites] == ["model.py"]
    assert draw(sites, 60, 7) == sites


def test_importing_files_are_entered(tmp_path: Path):
    for name, text in {"a.py": "", "p/b.py": "from a import x\n", "p/c.py": "from .b import x\n", "d.py": ""}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    names = [one.name for one in Checkout(tmp_path).with_importers(tmp_path / "a.py")]
    assert names == ["a.py", "b.py", "c.py"]


def test_tensors_by_syntax():
    text = dedent("""
        class Net(nn.Module):
            def __init__(self):
                self.fc = nn.Linear(3, 3)
            def forward(self, x, n):
                y = self.fc(x.unsqueeze(0))
                return y * n
        """)
    facts = FileFacts(text)
    (forward,) = regions_of(facts)
    found = {facts.source(one) for one in SyntacticTensors(facts, forward).expressions()}
    assert found == {"x", "x.unsqueeze(0)", "self.fc(x.unsqueeze(0))", "y", "y * n"}


def test_knowledge_counts_known_and_unknown_tensors(tmp_path: Path):
    text = """
        import torch
        from torch import nn
        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                y = torch.zeros(3)
                return unknown(x).unsqueeze(0)
        """
    (tmp_path / "net.py").write_text(dedent(text))
    name, tensors, devices, dtypes = measure(tmp_path, 5, 7)
    # torch.zeros(3) is known, x has the caller's device and dtype; what unknown(x) returns is a tensor by its method.
    assert (name, tensors, devices, dtypes) == (tmp_path.name, 4, 2, 2)


def test_a_model_of_another_file_may_move_its_inputs_where_the_repository_wraps_models(tmp_path):
    given = """
def train(model, criterion, train_loader, device):
    model.to(device)
    for x, y in train_loader:
        x = x.to(device)
        y = y.to(device)
        loss = criterion(model(x), y)
        out = model(x)
        loss = criterion(out, y)
"""
    forget = frozenset({"FORGET"})
    assert [one.names for one in mutations_of(given, forget)] == [{"x"}, {"y"}]
    assert [one.names for one in mutations_of(given, forget, given_models_move_inputs=True)] == [{"y"}]
    own = given.replace("model.to(device)", "model = Net().to(device)")
    assert len([*mutations_of(own, forget, given_models_move_inputs=True)]) == 2
    (tmp_path / "train.py").write_text("import torch\n" + given)
    assert len(sites_of(tmp_path, forget)) == 2
    (tmp_path / "main.py").write_text("import torch\nmodel = torch.nn.DataParallel(build())\n")
    assert len(sites_of(tmp_path, forget)) == 1


def test_a_forgotten_part_reaches_the_lists_that_collect_it():
    text = """
model = Net().to(device)
seen = []
for x, y in train_loader:
    y = y.to(device)
    loss = criterion(model(x.to(device)), y)
    out = model(x.to(device))
    loss = criterion(out, y)
    seen.append(y.detach())
targets = torch.cat(seen)
"""
    names = [one.names for one in mutations_of(text, frozenset({"FORGET"}))]
    assert {"y", "seen", "targets"} in names
