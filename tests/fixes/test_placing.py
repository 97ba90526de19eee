"""Tensors that are made or moved where they are wanted: DEV101, DEV102, DEV105."""

from __future__ import annotations

import pytest

from .programs import check_fix

PAIRS = {
    "made on the argument's device": """
        def mask(x: torch.Tensor):
            x = x.to(x.device)
            return x * torch.ones(x.size(0))
        # becomes (safe)
        def mask(x: torch.Tensor):
            x = x.to(x.device)
            return x * torch.ones(x.size(0), device=x.device)
        """,
    "an argument that is used as a tensor only later": """
        class Net(nn.Module):
            def forward(self, times):
                rates = torch.arange(8) / 8
                return times[:, None].float() * rates[None]
        # becomes (unsafe)
        class Net(nn.Module):
            def forward(self, times):
                rates = torch.arange(8, device=times.device) / 8
                return times[:, None].float() * rates[None]
        """,
    "a name that is read once": """
        class Net(nn.Module):
            def forward(self, x):
                scale = torch.full((3,), 2.0)  # a constant
                return x.exp() * scale
        # becomes (safe)
        class Net(nn.Module):
            def forward(self, x):
                scale = torch.full((3,), 2.0, device=x.device)  # a constant
                return x.exp() * scale
        """,
    "a name that is read again": """
        class Net(nn.Module):
            def forward(self, x):
                scale = torch.full((3,), 2.0)
                return x.exp() * scale, scale
        # becomes (unsafe)
        class Net(nn.Module):
            def forward(self, x):
                scale = torch.full((3,), 2.0, device=x.device)
                return x.exp() * scale, scale
        """,
    "random numbers": """
        class Net(nn.Module):
            def forward(self, x):
                return x.exp() + torch.randn(
                    x.size(0),
                    3,  # wide
                )
        # becomes (unsafe)
        class Net(nn.Module):
            def forward(self, x):
                return x.exp() + torch.randn(
                    x.size(0),
                    3, device=x.device,  # wide
                )
        """,
    "random numbers of a generator, which is on some device": """
        class Net(nn.Module):
            def forward(self, x, generator):
                return x.exp() + torch.randn(x.size(0), 3, generator=generator)
        # becomes (unsafe)
        class Net(nn.Module):
            def forward(self, x, generator):
                return x.exp() + torch.randn(x.size(0), 3, generator=generator).to(x.device)
        """,
    "made from an array": """
        import numpy as np

        class Net(nn.Module):
            def forward(self, x):
                return x.exp() + torch.from_numpy(np.ones(3, dtype=np.float32))
        # becomes (safe)
        import numpy as np

        class Net(nn.Module):
            def forward(self, x):
                return x.exp() + torch.from_numpy(np.ones(3, dtype=np.float32)).to(x.device)
        """,
    "on the device that a script has a name for": """
        device = "cuda" if torch.cuda.is_available() else "cpu"
        image = torch.rand(3, device=device)
        mask = torch.ones(3)
        image = image * mask
        # becomes (unsafe)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        image = torch.rand(3, device=device)
        mask = torch.ones(3, device=device)
        image = image * mask
        """,
    "only a literal at hand where it is made": """
        def scale(values: torch.Tensor, device):
            def made():
                return torch.ones(3).unsqueeze(0)
            other = made()
            return other * values.to("cuda")
        # becomes (unsafe)
        def scale(values: torch.Tensor, device):
            def made():
                return torch.ones(3, device="cuda").unsqueeze(0)
            other = made()
            return other * values.to("cuda")
        """,
    "an input of a module": """
        device = torch.device("cuda")
        model = nn.Linear(8, 2).to(device)
        batch = torch.rand(16, 8)
        out = model(batch)
        # becomes (unsafe)
        device = torch.device("cuda")
        model = nn.Linear(8, 2).to(device)
        batch = torch.rand(16, 8, device=device)
        out = model(batch)
        """,
    "batches of a loader": """
        from torch.utils.data import DataLoader, TensorDataset

        def train(device):
            model = nn.Linear(8, 2).to("cuda")
            for x, y in DataLoader(TensorDataset(torch.rand(16, 8), torch.rand(16, 2))):
                loss = nn.functional.mse_loss(model(x), y)
                print(x.mean())
        # becomes (unsafe)
        from torch.utils.data import DataLoader, TensorDataset

        def train(device):
            model = nn.Linear(8, 2).to("cuda")
            for x, y in DataLoader(TensorDataset(torch.rand(16, 8), torch.rand(16, 2))):
                x = x.to(model.weight.device)
                loss = nn.functional.mse_loss(model(x), y.to(model.weight.device))
                print(x.mean())
        """,
    "a module that stays behind": """
        def run(loader):
            model = nn.Linear(3, 3)
            for x in loader:
                y = model(x.to("cuda"))
        # becomes (unsafe)
        def run(loader):
            model = nn.Linear(3, 3)
            model.to("cuda")
            for x in loader:
                y = model(x.to("cuda"))
        """,
    "pairs": """
        def restore(model: nn.Module):
            params = [p.detach() for p in model.cuda().parameters()]
            kept = [torch.zeros(3) for p in params]
            torch._foreach_add_(params, kept)
        # becomes (unsafe)
        def restore(model: nn.Module):
            params = [p.detach() for p in model.cuda().parameters()]
            kept = [torch.zeros(3, device=p.device) for p in params]
            torch._foreach_add_(params, kept)
        """,
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_it_is_brought_where_it_is_wanted(pair: str) -> None:
    check_fix(pair, "DEV101", "DEV102", "DEV105")
