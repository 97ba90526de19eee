"""Casts, and comparisons of devices, after their fix: DEV117, DEV205, DEV301 to DEV305."""

from __future__ import annotations

import pytest

from .programs import check_fix

PAIRS = {
    ("DEV117", "a dtype that NumPy lacks"): """
        x = torch.ones(3, dtype=torch.bfloat16)
        layer = nn.Linear(3, 3).bfloat16()
        print(x.numpy(), layer.weight.numpy())
        # becomes (safe)
        x = torch.ones(3, dtype=torch.bfloat16)
        layer = nn.Linear(3, 3).bfloat16()
        print(x.float().numpy(), layer.weight.detach().float().numpy())
        """,
    ("DEV205", "a string"): """
        x = torch.ones(3)
        print(x.device == "cuda", "cpu" != x.device, x.device == 'cuda:0')
        # becomes (unsafe)
        x = torch.ones(3)
        print(x.device.type == "cuda", "cpu" != x.device.type, x.device == torch.device('cuda:0'))
        """,
    ("DEV205", "identity, and a device without an index"): """
        x, y = torch.ones(3), torch.ones(3, device="cuda")
        print(x.device is y.device, y.device == torch.device("cuda"))
        # becomes (unsafe)
        x, y = torch.ones(3), torch.ones(3, device="cuda")
        print(x.device == y.device, y.device.type == "cuda")
        """,
    ("DEV301", "where it comes into torch"): """
        import numpy as np

        model = nn.Linear(3, 3)
        values = torch.from_numpy(np.random.rand(2, 3))
        model(values)
        # becomes (unsafe)
        import numpy as np

        model = nn.Linear(3, 3)
        values = torch.from_numpy(np.random.rand(2, 3)).float()
        model(values)
        """,
    ("DEV301", "by the dtype it is given"): """
        import numpy as np

        model = nn.Linear(3, 3)
        model(torch.as_tensor(np.random.rand(2, 3), device="cpu"))
        # becomes (unsafe)
        import numpy as np

        model = nn.Linear(3, 3)
        model(torch.as_tensor(np.random.rand(2, 3), device="cpu", dtype=torch.float32))
        """,
    ("DEV301", "a function that takes any array"): """
        import numpy as np

        def tensor(array):
            return torch.from_numpy(array)

        model = nn.Linear(3, 3)
        model(tensor(np.random.rand(2, 3)))
        # becomes (unsafe)
        import numpy as np

        def tensor(array):
            return torch.from_numpy(array)

        model = nn.Linear(3, 3)
        model(tensor(np.random.rand(2, 3)).float())
        """,
    ("DEV302", "one operand to the other's dtype"): """
        inputs, weight = torch.rand(2, 3).half(), torch.rand(3, 4)
        print(inputs @ weight)
        # becomes (unsafe)
        inputs, weight = torch.rand(2, 3).half(), torch.rand(3, 4)
        print(inputs @ weight.to(inputs.dtype))
        """,
    ("DEV302", "what a caller passes to a shared module, where it is passed"): """
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)

            def forward(self, x):
                x = self.fc(x)
                return x

        net = Net().half()
        net(torch.rand(2, 3))
        # becomes (unsafe)
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)

            def forward(self, x):
                x = self.fc(x)
                return x

        net = Net().half()
        net(torch.rand(2, 3).half())
        """,
    ("DEV302", "a cast to the wrong dtype becomes one to the right dtype"): """
        from torch import nn

        net = nn.Linear(3, 3)
        net(torch.rand(2, 3).double())
        # becomes (unsafe)
        from torch import nn

        net = nn.Linear(3, 3)
        net(torch.rand(2, 3).float())
        """,
    ("DEV303", "the transfer casts as well"): """
        import numpy as np

        signal = torch.from_numpy(np.random.rand(512))
        print(signal.to("cuda"), signal.cuda())
        # becomes (unsafe)
        import numpy as np

        signal = torch.from_numpy(np.random.rand(512))
        print(signal.to("cuda", dtype=torch.float32), signal.float().cuda())
        """,
    ("DEV303", "an entry of a batch whose other entries are integers"): """
        import numpy as np

        def step(device="cuda"):
            batch = {"clean": torch.from_numpy(np.random.rand(4, 8)), "label": torch.arange(4)}
            batch = {key: value.to(device) for key, value in batch.items()}
            return torch.exp(batch["clean"]).gather(1, batch["label"][:, None])

        for _ in range(9):
            step()
        # becomes (unsafe)
        import numpy as np

        def step(device="cuda"):
            batch = {"clean": torch.from_numpy(np.random.rand(4, 8)).float(), "label": torch.arange(4)}
            batch = {key: value.to(device) for key, value in batch.items()}
            return torch.exp(batch["clean"]).gather(1, batch["label"][:, None])

        for _ in range(9):
            step()
        """,
    ("DEV303", "one call that moves two dtypes"): """
        import numpy as np

        def move(tensor):
            moved = tensor
            return moved.to("cuda")

        signal = move(torch.from_numpy(np.random.rand(512)))
        labels = move(torch.arange(512))
        print(torch.exp(signal)[labels])
        # becomes (unsafe)
        import numpy as np

        def move(tensor):
            moved = tensor
            return moved.to("cuda")

        signal = move(torch.from_numpy(np.random.rand(512)).float())
        labels = move(torch.arange(512))
        print(torch.exp(signal)[labels])
        """,
    ("DEV303", "entries that come into torch by one call"): """
        import numpy as np

        def step(arrays):
            batch = {"clean": np.random.rand(4, 8), "label": np.arange(4)}
            batch = {key: torch.from_numpy(value) for key, value in batch.items()}
            batch = {key: value.to("cuda") for key, value in batch.items()}
            return torch.exp(batch["clean"]).gather(1, batch["label"][:, None])
        """,
    ("DEV301", "entries that come into torch by one call"): """
        import numpy as np

        batch = {"clean": np.random.rand(4, 8), "label": np.arange(4)}
        batch = {key: torch.from_numpy(value) for key, value in batch.items()}
        print(nn.Linear(8, 3)(batch["clean"]).gather(1, batch["label"][:, None]))
        # becomes (unsafe)
        import numpy as np

        batch = {"clean": np.random.rand(4, 8), "label": np.arange(4)}
        batch = {key: torch.from_numpy(value) for key, value in batch.items()}
        print(nn.Linear(8, 3)(batch["clean"].float()).gather(1, batch["label"][:, None]))
        """,
    ("DEV301", "samples that become one tensor"): """
        import numpy as np

        samples = torch.stack([torch.from_numpy(one) for one in [np.random.rand(8), np.random.rand(8)]])
        print(nn.Linear(8, 3)(samples))
        # becomes (unsafe)
        import numpy as np

        samples = torch.stack([torch.from_numpy(one).float() for one in [np.random.rand(8), np.random.rand(8)]])
        print(nn.Linear(8, 3)(samples))
        """,
    ("DEV303", "a function that takes any array"): """
        import numpy as np

        def tensor(array):
            return torch.from_numpy(array).to("cuda")

        tensor(np.random.rand(2, 3))
        """,
    ("DEV304", "targets"): """
        criterion = nn.BCELoss()
        real = torch.full((8,), 1)
        criterion(torch.rand(8), real)
        # becomes (unsafe)
        criterion = nn.BCELoss()
        real = torch.full((8,), 1)
        criterion(torch.rand(8), real.float())
        """,
    ("DEV305", "an index"): """
        x = torch.rand(4, 3)
        middle = torch.arange(4) / 2
        print(x[middle], x.masked_fill((x > 0.5).float(), 0.0))
        # becomes (unsafe)
        x = torch.rand(4, 3)
        middle = torch.arange(4) / 2
        print(x[middle.long()], x.masked_fill((x > 0.5).float().to(torch.bool), 0.0))
        """,
    ("DEV306", "a cast that follows"): """
        x = torch.rand(512, 512).exp()
        a, b = x.to("cuda").half(), x.cuda(0).bfloat16()
        c = x.to("cuda", non_blocking=True,).to(torch.float16)
        # becomes (safe)
        x = torch.rand(512, 512).exp()
        a, b = x.to("cuda", torch.float16), x.bfloat16().cuda(0)
        c = x.to(torch.float16).to("cuda", non_blocking=True,)
        """,
    ("DEV306", "a cast that comes first"): """
        x = torch.zeros(512, 512, dtype=torch.uint8).clone()
        a = x[0].float().to("cuda", non_blocking=True).unsqueeze(0)  # one
        b = x.to(torch.float32).cuda()
        # becomes (safe)
        x = torch.zeros(512, 512, dtype=torch.uint8).clone()
        a = x[0].to("cuda", non_blocking=True).float().unsqueeze(0)  # one
        b = x.cuda().to(torch.float32)
        """,
    ("DEV306", "not in two statements"): """
        x = torch.rand(512, 512).exp().cuda()
        x = x.half()
        """,
    ("DEV306", "not over a comment"): """
        x = torch.rand(512, 512).exp()
        y = (
            x.cuda()  # there
            .half()
        )
        """,
}


@pytest.mark.parametrize(("code", "name"), PAIRS)
def test_it_becomes(code: str, name: str) -> None:
    check_fix(PAIRS[code, name], code)
