"""What findings take for granted, and how sure devlint is of them for it."""

from __future__ import annotations

import pytest

from devlint import Confidence, check_source
from devlint.diagnostic import AssumptionKind, confidence_under

PROGRAMS = {
    "both devices written out": (
        """
        import torch
        x = torch.ones(3, device="cuda")
        x + torch.ones(3)
        """,
        "certain",
        [],
    ),
    "an available accelerator is no assumption": (
        """
        import torch
        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.ones(3, device=device)
        x + torch.ones(3)
        """,
        "certain",
        [],
    ),
    "an option, and an accelerator that is available": (
        """
        import argparse, torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--no-cuda", action="store_true")
        args = parser.parse_args()
        device = "cuda" if not args.no_cuda and torch.cuda.is_available() else "cpu"
        x = torch.ones(3, device=device)
        x + torch.ones(3)
        """,
        "likely",
        [("option", "`not args.no_cuda` holds", 6)],
    ),
    "an unknown condition, and an accelerator that is available": (
        """
        import settings, torch
        device = "cuda" if settings.fast() and torch.cuda.is_available() else "cpu"
        x = torch.ones(3, device=device)
        x + torch.ones(3)
        """,
        "possible",
        [("condition", "`settings.fast()` holds", 3)],
    ),
    "the body of a try statement, which raises nothing": (
        """
        import torch
        x = torch.ones(3, device="cuda")
        try:
            y = torch.ones(3)
            torch.save(y, "y.pt")
        except OSError:
            y = torch.ones(3, device="cuda")
        x + y
        """,
        "likely",
        [("no exception", "nothing in the body of `try` raises", 4)],
    ),
    "the handler of a try statement": (
        """
        import torch
        x = torch.ones(3, device="cuda")
        try:
            y = torch.ones(3, device="cuda")
            torch.save(y, "y.pt")
        except OSError:
            y = torch.ones(3)
        x + y
        """,
        "possible",
        [("condition", "the body of `try` raises", 4)],
    ),
    "a caller of a function that places other tensors beside its argument": (
        """
        import torch
        def scale(x: torch.Tensor):
            mask = torch.zeros(3, dtype=torch.bool, device=x.device)
            return x * torch.ones(3), mask
        """,
        "likely",
        [("device argument", "`x` is on an accelerator", 3)],
    ),
    "a caller of a function that places other tensors beside another argument": (
        """
        import torch
        def scale(x: torch.Tensor, like: torch.Tensor):
            mask = torch.zeros(3, dtype=torch.bool, device=like.device)
            return x * torch.ones(3), mask
        """,
        "possible",
        [("caller", "`x` is on an accelerator", 3)],
    ),
    "an index that only a path without the argument makes": (
        """
        import torch
        from torch import nn
        class Positions(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(8, 3)
            def forward(self, x, positions=None):
                if positions is None:
                    positions = torch.arange(8, dtype=torch.float32, device=x.device)
                return self.table(positions)
        """,
        "likely",
        [("default", "`positions is None` holds", 9)],
    ),
    "a module on the host whose own code names the accelerator": (
        """
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(3, 3)
            def forward(self, x):
                return self.net(torch.zeros(3).cuda()) + x.to("cuda")
        Net()(torch.ones(3))
        """,
        "possible",
        [("host module", "the module is run on the host, though its own code asks for the accelerator by name", 9)],
    ),
    "a module on the host whose caller names the accelerator": (
        """
        import torch
        from torch import nn
        nn.Linear(3, 3)(torch.zeros(3).cuda())
        """,
        "certain",
        [],
    ),
    "a condition that chooses the device": (
        """
        import torch
        def run(use_gpu):
            x = torch.ones(3, device="cuda" if use_gpu else "cpu")
            return x + torch.ones(3)
        """,
        "possible",
        [("condition", "`use_gpu` holds", 4)],
    ),
    "a condition that chooses the device of what a batch meets": (
        """
        import torch
        import torch.nn.functional as F
        def run(model, loader, use_gpu):
            device = "cuda" if use_gpu else "cpu"
            model.train()
            for x, y in loader:
                F.mse_loss(model(x.to(device)), y)
        """,
        "likely",
        [("option", "`use_gpu` holds", 5), ("loader", "the loader yields host tensors", 7)],
    ),
    "a condition that is no flag, beside a batch": (
        """
        import torch
        import torch.nn.functional as F
        def run(model, loader, quick):
            device = "cuda" if quick else "cpu"
            model.train()
            for x, y in loader:
                F.mse_loss(model(x.to(device)), y)
        """,
        "possible",
        [("condition", "`quick` holds", 5), ("loader", "the loader yields host tensors", 7)],
    ),
    "a parameter that a call leaves out": (
        """
        import torch
        def run(use_gpu=True):
            x = torch.ones(3, device="cuda" if use_gpu else "cpu")
            return x + torch.ones(3)
        """,
        "likely",
        [("default", "`use_gpu` holds", 4)],
    ),
    "a caller's tensor and a parameter that the call leaves out": (
        """
        import torch
        from torch import Tensor, nn
        class Net(nn.Module):
            def forward(self, x: Tensor, state: Tensor = None):
                if state is None:
                    state = torch.zeros(3)
                return x + state
        """,
        "likely",
        [("default", "`state is None` holds", 6), ("moved module", "`x` is on an accelerator", 5)],
    ),
    "a caller's tensor and a condition that nobody decides": (
        """
        import torch
        from torch import Tensor, nn
        class Net(nn.Module):
            def __init__(self, learned):
                super().__init__()
                self.shift = torch.zeros(3)
                if learned:
                    self.shift = nn.Parameter(self.shift)
            def forward(self, x: Tensor):
                return x + self.shift
        """,
        "possible",
        [
            ("condition", "`not learned` holds", 8),
            ("constructed", "nothing has replaced what the constructor made", 7),
            ("moved module", "`x` is on an accelerator", 10),
        ],
    ),
    "a caller who passes a device where one may be left out": (
        """
        import torch
        def read(device=None):
            device = torch.device("cpu") if device is None else device
            return torch.ones(3, device=device).numpy()
        """,
        "likely",
        [("device argument", "`device` is an accelerator", 5)],
    ),
    "a caller who passes a tensor": (
        """
        import torch
        from torch import Tensor, nn
        class Net(nn.Module):
            def forward(self, x: Tensor):
                return x + torch.ones(3)
        """,
        "likely",
        [("moved module", "`x` is on an accelerator", 5)],
    ),
    "a caller who passes a tensor to a function": (
        """
        import torch
        from torch import Tensor
        def shift(x: Tensor):
            print(x.is_cuda)
            return x + torch.ones(3)
        """,
        "possible",
        [("caller", "`x` is on an accelerator", 4)],
    ),
    "a caller of a function that asks for the device of a tensor": (
        """
        import torch
        from torch import Tensor
        def shift(x: Tensor):
            return torch.zeros(3, device=x.device) + torch.ones(3)
        """,
        "likely",
        [("device argument", "`x` is on an accelerator", 5)],
    ),
    "a caller who passes a device": (
        """
        import torch
        def read(device: torch.device):
            return torch.ones(3, device=device).numpy()
        """,
        "likely",
        [("device argument", "`device` is an accelerator", 4)],
    ),
    "a parameter that is only taken for a tensor": (
        """
        import torch
        from torch import nn
        class Net(nn.Module):
            def forward(self, x):
                return x + torch.ones(3)
        """,
        "likely",
        [("tensor", "`x` is a tensor", 5), ("moved module", "`x` is on an accelerator", 5)],
    ),
    "a parameter that only a call of a method shows to be a tensor": (
        """
        import torch
        def keep(value):
            value.detach().to("cpu")
            return value * 2
        """,
        "likely",
        [("tensor", "`value` is a tensor", 3)],
    ),
    "one of two functions by a key that is not known": (
        """
        import numpy as np, torch
        def sort(x, kind):
            return {"a": np.sort, "b": torch.sort}[kind](x)
        sort(torch.ones(3).cuda(), input())
        """,
        "possible",
        [("condition", "it is the first of several values", None)],
    ),
    "a dtype, where the number of dimensions decides": (
        """
        import torch
        def loss(scores: torch.Tensor, labels: torch.Tensor):
            if labels.dim() < scores.dim():
                return scores.gather(1, labels[:, None])
            return scores * labels
        x = torch.ones(3, 4).reshape(eval(input()))
        loss(x, x * 2)
        """,
        "possible",
        [("condition", "`labels.dim() < scores.dim()` holds", 4)],
    ),
    "a dtype, where the number of dimensions is one less": (
        """
        import torch
        def loss(scores: torch.Tensor, labels: torch.Tensor):
            if labels.dim() == scores.dim() - 1:
                return scores.gather(1, labels[:, None])
            return scores * labels
        x = torch.ones(3, 4).reshape(eval(input()))
        loss(x, x * 2)
        """,
        "possible",
        [("condition", "`labels.dim() == scores.dim() - 1` holds", 4)],
    ),
    "a dtype, where the number of dimensions is compared with a number": (
        """
        import torch
        def classes(x):
            c = x.float()
            if c.dim() == 2:
                return torch.nn.functional.one_hot(c, 20)
            return c
        """,
        "possible",
        [("condition", "`c.dim() == 2` holds", 5)],
    ),
    "what the constructor made has the size of an input": (
        """
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.last = torch.empty(1)
            def forward(self, x: torch.Tensor):
                if self.last.shape != x.shape:
                    return x
                return x + self.last
        """,
        "possible",
        [
            ("condition", "`self.last.shape == x.shape` holds", 9),
            ("constructed", "nothing has replaced what the constructor made", 7),
            ("moved module", "`x` is on an accelerator", 8),
        ],
    ),
    "an attribute as the constructor left it": (
        """
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.shift = torch.ones(3)
                self.weight = nn.Parameter(torch.ones(3))
            def forward(self):
                return self.weight + self.shift
        """,
        "likely",
        [
            ("constructed", "nothing has replaced what the constructor made", 7),
            ("moved module", "the module is on an accelerator", 4),
        ],
    ),
    "that a tensor on the host is not 0-dim": (
        """
        import torch
        def resume(path, x: torch.Tensor):
            state = torch.load(path, map_location="cpu")
            mean = torch.as_tensor(state["mean"], device="cpu")
            x = x.cuda()
            return x - mean
        """,
        "possible",
        [("dimensions", "`mean` is not 0-dim", 7)],
    ),
    "the batch of a loader": (
        """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader
        from data import dataset
        model = nn.Linear(3, 3).cuda()
        for batch in DataLoader(dataset):
            model(batch)
        """,
        "likely",
        [("loader", "the loader yields host tensors", 7)],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_finding_assumes(name):
    source, confidence, expected = PROGRAMS[name]
    text = "\n".join(line[8:] for line in source.splitlines())
    (found,) = check_source(text, select=["DEV1", "DEV201", "DEV305"], min_confidence=Confidence.POSSIBLE).diagnostics
    assumed = [(one.kind.value, one.message, one.region and one.region.start.row) for one in found.assumptions]
    assert (found.confidence.value, assumed) == (confidence, expected)


@pytest.mark.parametrize(
    ("kinds", "confidence"),
    [
        ("", "certain"),
        ("condition", "possible"),
        ("no accelerator", "likely"),
        ("no exception", "likely"),
        ("dimensions", "possible"),
        ("constructed", "possible"),
        ("constructed, option", "possible"),
        ("constructed, uncast", "likely"),
        ("constructed, moved module", "likely"),
        ("device argument", "likely"),
        ("caller", "possible"),
    ],
)
def test_the_kinds_of_assumptions_decide_how_sure_a_finding_is(kinds: str, confidence: str) -> None:
    assumed = [AssumptionKind(one) for one in kinds.split(", ") if one]
    assert confidence_under(assumed) is Confidence(confidence)


BATCHES = """
import torch
from torch import nn


def train(model, loader):
    model.cuda()
    for x, y in loader:
        y.cuda()
        nn.functional.mse_loss(model(x.cuda()), y)
"""


def test_findings_on_one_batch_assume_the_same() -> None:
    lost, mixed = check_source(BATCHES).diagnostics
    assert (lost.code, mixed.code) == ("DEV201", "DEV101")
    assert [one.message for one in lost.assumptions] == ["the loader yields host tensors"]
    assert lost.assumptions == mixed.assumptions
    assert lost.confidence is mixed.confidence is Confidence.LIKELY


def test_a_lost_transfer_of_what_was_made_here_assumes_nothing() -> None:
    (lost,) = check_source("import torch\n\ny = torch.ones(3)\ny.cuda()\n").diagnostics
    assert (lost.code, lost.assumptions, lost.confidence) == ("DEV201", (), Confidence.CERTAIN)
