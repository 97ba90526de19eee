"""Transfers whose result is kept after the fix: DEV201, DEV202, DEV203."""

from __future__ import annotations

import pytest

from .programs import check_fix

PAIRS = {
    "a variable": """
        t = torch.zeros(3)
        t.to("cuda")  # move
        # becomes (safe)
        t = torch.zeros(3)
        t = t.to("cuda")  # move
        """,
    "a cast": """
        t = torch.zeros(3)
        t.half()
        # becomes (unsafe)
        t = torch.zeros(3)
        t = t.half()
        """,
    "an attribute that is assigned": """
        class Box:
            def __init__(self):
                self.t = torch.zeros(3)
                self.t.cuda()
        # becomes (unsafe)
        class Box:
            def __init__(self):
                self.t = torch.zeros(3)
                self.t = self.t.cuda()
        """,
    "a parameter of a module": """
        layer = nn.Linear(3, 3)
        layer.weight.cuda()
        """,
    "a name of the code around": """
        t = torch.zeros(3)
        def move():
            t.cuda()
        """,
    "what is looped over": """
        def move(views):
            views = [torch.rand(3), torch.rand(4)]
            for view in views:
                view.to("cuda")
            return views
        # becomes (unsafe)
        def move(views):
            views = [torch.rand(3), torch.rand(4)]
            views = [view.to("cuda") for view in views]
            return views
        """,
    "the variable of a loop that goes on with it": """
        views = [torch.rand(3), torch.rand(4)]
        for view in views:
            view.to("cuda")
            print(view)
        # becomes (safe)
        views = [torch.rand(3), torch.rand(4)]
        for view in views:
            view = view.to("cuda")
            print(view)
        """,
    "entries of a dict": """
        batch = {"x": torch.rand(3), "y": torch.rand(3)}
        for key, value in batch.items():
            value = value.to("cuda")
        # becomes (unsafe)
        batch = {"x": torch.rand(3), "y": torch.rand(3)}
        for key, value in batch.items():
            batch[key] = value.to("cuda")
        """,
    "items of a list": """
        rows = [torch.rand(3), torch.rand(4)]
        for index, row in enumerate(rows):
            row = row.to("cuda")
        # becomes (unsafe)
        rows = [torch.rand(3), torch.rand(4)]
        for index, row in enumerate(rows):
            rows[index] = row.to("cuda")
        """,
    "parameters of a model": """
        model = nn.Linear(3, 3)
        for p in model.parameters():
            p = p.to("cuda")
        # becomes (unsafe)
        model = nn.Linear(3, 3)
        model.to("cuda")
        """,
    "a loop with a comment in it": """
        rows = [torch.rand(3), torch.rand(4)]
        for row in rows:
            # to the device
            row = row.to("cuda")
        """,
    "arguments": """
        def to_device(x: torch.Tensor, y: torch.Tensor, device):
            x = x.to(device)
            y = y.to(device)

        def train(x, y):
            to_device(x, y, "cuda")
            return x + y
        # becomes (unsafe)
        def to_device(x: torch.Tensor, y: torch.Tensor, device):
            x = x.to(device)
            y = y.to(device)
            return x, y

        def train(x, y):
            x, y = to_device(x, y, "cuda")
            return x + y
        """,
    "arguments that are no variables": """
        def to_device(x: torch.Tensor, device):
            x = x.to(device)

        def train(batch):
            to_device(batch[0], "cuda")
        """,
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_the_result_is_kept(pair: str) -> None:
    check_fix(pair, "DEV201", "DEV202", "DEV203")


def test_a_lost_result_is_kept_and_what_follows_of_it_is_left_alone() -> None:
    check_fix(
        """
        def count(target, predicted):
            return torch.bincount(target * 4 + predicted)

        labels = torch.arange(8)
        labels.to("cuda")
        predicted = torch.ones(8, device="cuda", dtype=torch.int64)
        print(count(labels, predicted))
        # becomes (safe)
        def count(target, predicted):
            return torch.bincount(target * 4 + predicted)

        labels = torch.arange(8)
        labels = labels.to("cuda")
        predicted = torch.ones(8, device="cuda", dtype=torch.int64)
        print(count(labels, predicted))
        """,
        "DEV101",
        "DEV201",
    )


def test_what_does_not_follow_of_a_lost_result_is_fixed_as_well() -> None:
    check_fix(
        """
        def count(target, predicted):
            return torch.bincount(target * 4 + predicted)

        labels = torch.arange(8)
        labels.to("cuda")
        predicted = torch.ones(8, dtype=torch.int64)
        print(count(labels.cuda(), predicted))
        # becomes
        def count(target, predicted):
            return torch.bincount(target * 4 + predicted)

        labels = torch.arange(8)
        labels = labels.to("cuda")
        predicted = torch.ones(8, dtype=torch.int64, device="cuda")
        print(count(labels.cuda(), predicted))
        """,
        "DEV101",
        "DEV201",
    )
