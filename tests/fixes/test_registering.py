"""Tensors and modules that a module owns after the fix: DEV103, DEV104."""

from __future__ import annotations

import libcst as cst
import pytest

from devlint.fixes.buffer_registration import wrap_container
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.repair.document import Document
from devlint.syntax.index import index_source
from devlint.syntax.source import Source
from devlint.syntax.tree_walk import descend

from .programs import check_fix

PAIRS = {
    "in both branches": """
        class Net(nn.Module):
            def __init__(self, wide):
                super().__init__()
                if wide:
                    self.table = torch.zeros(512)
                else:
                    self.table = torch.ones(512)

            def forward(self, x):
                return x.exp() + self.table
        # becomes (unsafe)
        class Net(nn.Module):
            def __init__(self, wide):
                super().__init__()
                if wide:
                    self.register_buffer("table", torch.zeros(512), persistent=False)
                else:
                    self.register_buffer("table", torch.ones(512), persistent=False)

            def forward(self, x):
                return x.exp() + self.table
        """,
    "an attribute that is something else first": """
        class Net(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.table = 0
                self.table = torch.zeros(512)

            def forward(self, x):
                return x.exp() + self.table
        """,
    "an attribute that the class has already": """
        class Net(nn.Module):
            table = None

            def __init__(self, size):
                super().__init__()
                self.table = torch.zeros(512)

            def forward(self, x):
                return x.exp() + self.table
        """,
    "tables in a dict": """
        class Net(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.tables = {"wide": torch.zeros(2, size), "narrow": torch.zeros(2, 3)}

            def forward(self, x, which):
                mean, std = self.tables[which].unbind(0)
                return (x.exp() - mean) / std
        # becomes (unsafe)
        class Net(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.tables = {"wide": torch.zeros(2, size), "narrow": torch.zeros(2, 3)}

            def forward(self, x, which):
                mean, std = self.tables[which].unbind(0)
                return (x.exp() - mean.to(x.device)) / std.to(x.device)
        """,
    "a table": """
        class Net(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.table = torch.zeros(  # a table
                    512, size
                )

            def forward(self, x):
                return x.exp() + self.table
        # becomes (unsafe)
        class Net(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.register_buffer("table", torch.zeros(  # a table
                    512, size
                ), persistent=False)

            def forward(self, x):
                return x.exp() + self.table
        """,
    "with an annotation": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale: torch.Tensor = torch.ones(3)

            def forward(self, x):
                return x.exp() * self.scale
        # becomes (unsafe)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("scale", torch.ones(3), persistent=False)

            def forward(self, x):
                return x.exp() * self.scale
        """,
    "to be trained": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.ones(3, requires_grad=True)

            def forward(self, x):
                return x.exp() * self.scale
        """,
    "a list of layers": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(3, 3)
                self.layers = [nn.Linear(3, 3) for _ in range(2)]

            def forward(self, x):
                x = self.first(x)
                for layer in self.layers:
                    x = layer(x)
                return x

        Net().cuda()(torch.ones(3, device="cuda"))
        # becomes (unsafe)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(3, 3)
                self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])

            def forward(self, x):
                x = self.first(x)
                for layer in self.layers:
                    x = layer(x)
                return x

        Net().cuda()(torch.ones(3, device="cuda"))
        """,
    "a list that is asked for more": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(3, 3)
                self.layers = [nn.Linear(3, 3) for _ in range(2)]

            def forward(self, x):
                x = self.first(x)
                for layer in self.layers:
                    x = layer(x)
                return x

            def reverse(self):
                self.layers.reverse()

        Net().cuda()(torch.ones(3, device="cuda"))
        """,
    "a dict of heads": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(3, 3)
                self.heads = {"a": nn.Linear(3, 2), "b": nn.Linear(3, 2)}

            def forward(self, x, task):
                return self.heads["a"](self.first(x))

        Net().cuda()(torch.ones(3, device="cuda"), "a")
        # becomes (unsafe)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(3, 3)
                self.heads = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Linear(3, 2)})

            def forward(self, x, task):
                return self.heads["a"](self.first(x))

        Net().cuda()(torch.ones(3, device="cuda"), "a")
        """,
    "a dict with numbers for keys": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(3, 3)
                self.heads = {1: nn.Linear(3, 2), 2: nn.Linear(3, 2)}

            def forward(self, x):
                return self.heads[1](self.first(x))

        Net().cuda()(torch.ones(3, device="cuda"))
        """,
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_the_module_owns_it(pair: str) -> None:
    check_fix(pair, "DEV103", "DEV104")


CONTAINERS = {
    "[]": "nn.ModuleList()",
    "()": "nn.ModuleList()",
    "(a, b)": "nn.ModuleList((a, b))",
    "[a, None]": None,
    "list(range_of(layers))": "nn.ModuleList(list(range_of(layers)))",
    "(layer(i) for i in range(3))": "nn.ModuleList((layer(i) for i in range(3)))",
    "{}": "nn.ModuleDict()",
    "{f'{i}': layer(i) for i in range(3)}": "nn.ModuleDict({f'{i}': layer(i) for i in range(3)})",
    "{i: layer(i) for i in range(3)}": None,
    "{'a.b': layer}": None,
    "dict(a=layer)": "nn.ModuleDict(dict(a=layer))",
    "layers": None,
}


@pytest.mark.parametrize(("value", "wrapped"), CONTAINERS.items(), ids=CONTAINERS)
def test_a_container_has_a_counterpart(value: str, wrapped: str | None) -> None:
    text = f"from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        self.kept = {value}\n"
    index = index_source(Source.of(text))
    region = FixContext(index).statement_region(index.statements[1])
    target = next(
        one for one in descend(region.statement.tree) if isinstance(one, cst.Attribute) and one.attr.value == "kept"
    )
    try:
        fix = wrap_container(region, target, "Module")
    except NoFix:
        assert wrapped is None
    else:
        changed = Document("a.py", text.encode()).edited(fix.edits).text
        assert changed == text.replace(f"= {value}", f"= {wrapped}")
