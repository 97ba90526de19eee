"""Fixes of what costs time: transfers left out, made once, or by the factory itself; waits put in and left out."""

from __future__ import annotations

import pytest

from .programs import check_fix

PAIRS = {
    ("DEV408", "elements that are put together"): """
        def collate(samples, device):
            return torch.stack([torch.tensor(one).to("cuda", non_blocking=True) for one in samples])
        # becomes (unsafe)
        def collate(samples, device):
            return torch.stack([torch.tensor(one) for one in samples]).to("cuda", non_blocking=True)
        """,
    ("DEV408", "a device that each element chooses"): """
        def collate(samples):
            return torch.stack([torch.tensor(one).to(f"cuda:{one}") for one in samples])
        """,
    ("DEV408", "elements that are read as numbers"): """
        def read(n):
            kept = []
            for _ in range(n):
                kept.append(torch.rand(3, device="cuda").sum())
            return torch.tensor([one.cpu() for one in kept])
        """,
    ("DEV410", "a factory in the subscript"): """
        def run(data: torch.Tensor, n):
            data = data.cuda()
            for _ in range(n):
                data[torch.arange(4)] = 0
        # becomes (safe)
        def run(data: torch.Tensor, n):
            data = data.cuda()
            for _ in range(n):
                data[torch.arange(4, device=data.device)] = 0
        """,
    ("DEV410", "random numbers"): """
        def run(n):
            data = torch.rand(10, 3, device="cuda")
            for _ in range(n):
                print(data[torch.randperm(10)[:4]])
        # becomes (unsafe)
        def run(n):
            data = torch.rand(10, 3, device="cuda")
            for _ in range(n):
                print(data[torch.randperm(10, device=data.device)[:4]])
        """,
    ("DEV410", "an index made elsewhere"): """
        def run(n):
            data, index = torch.rand(10, 3, device="cuda"), torch.randperm(10)
            for _ in range(n):
                print(data[index], data[[1, 2]], index)
        """,
    ("DEV401", "a tensor that comes back untouched"): """
        def fade(state: torch.Tensor, steps: int):
            for _ in range(steps):
                state = state * 0.9
                host = state.cpu()  # why
                state = host.to("cuda")
            return state

        fade(torch.rand(3, device="cuda"), 4)
        # becomes (unsafe)
        def fade(state: torch.Tensor, steps: int):
            for _ in range(steps):
                state = state * 0.9
                host = state  # why
                state = host
            return state

        fade(torch.rand(3, device="cuda"), 4)
        """,
    ("DEV401", "what the host computes on the way stays there"): """
        def fade(state: torch.Tensor, steps: int):
            for _ in range(steps):
                host = state.cpu()
                host = host * 0.9
                state = host.to("cuda")
            return state

        fade(torch.rand(3, device="cuda"), 4)
        """,
    ("DEV402", "a name of its own"): """
        weights = torch.rand(1000, 1000)
        for batch in torch.rand(10, 5, 1000, device="cuda"):
            print(batch @ weights.to("cuda"))
        # becomes (unsafe)
        weights = torch.rand(1000, 1000)
        moved_weights = weights.to("cuda")
        for batch in torch.rand(10, 5, 1000, device="cuda"):
            print(batch @ moved_weights)
        """,
    ("DEV402", "the name it has, and two loops"): """
        def run(batches, weights: torch.Tensor):
            weights = weights.cpu()
            for epoch in range(3):
                for batch in batches:
                    moved = weights.to("cuda")  # once
                    print(batch @ moved)
        # becomes (unsafe)
        def run(batches, weights: torch.Tensor):
            weights = weights.cpu()
            moved = weights.to("cuda")
            for epoch in range(3):
                for batch in batches:
                    # once
                    print(batch @ moved)
        """,
    ("DEV402", "not under a condition"): """
        weights = torch.rand(1000, 1000)
        for batch in torch.rand(10, 5, 1000):
            if torch.cuda.is_available():
                print(batch.cuda() @ weights.to("cuda"))
        """,
    ("DEV402", "not what the loop writes to"): """
        weights = torch.rand(1000, 1000)
        for batch in torch.rand(10, 1000, device="cuda"):
            moved = weights.to("cuda")
            moved[0] = batch
            print(moved.sum())
        """,
    ("DEV404", "a batch"): """
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.rand(64, 3))
        for (batch,) in DataLoader(data, pin_memory=True):
            print(batch.to("cuda", torch.float16).sum(), batch.cuda())
        # becomes (safe)
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.rand(64, 3))
        for (batch,) in DataLoader(data, pin_memory=True):
            print(batch.to("cuda", torch.float16, non_blocking=True).sum(), batch.cuda(non_blocking=True))
        """,
    ("DEV404", "a batch that is an argument"): """
        from torch.utils.data import DataLoader, TensorDataset

        def move(batch):
            return batch.cuda()

        for (batch,) in DataLoader(TensorDataset(torch.rand(64, 3)), pin_memory=True):
            move(batch)
        # becomes (unsafe)
        from torch.utils.data import DataLoader, TensorDataset

        def move(batch):
            return batch.cuda(non_blocking=True)

        for (batch,) in DataLoader(TensorDataset(torch.rand(64, 3)), pin_memory=True):
            move(batch)
        """,
    ("DEV404", "other pinned memory"): """
        buffer = torch.rand(64, 3).pin_memory()
        print(buffer.to("cuda", non_blocking=False))
        # becomes (unsafe)
        buffer = torch.rand(64, 3).pin_memory()
        print(buffer.to("cuda", non_blocking=True))
        """,
    ("DEV405", "a pinned copy that is only moved"): """
        def move(x: torch.Tensor, y: torch.Tensor):
            x, y = x.pin_memory().cuda(non_blocking=True), (y + 1).pin_memory().to("cuda")  # both
            return x + y
        # becomes (safe)
        def move(x: torch.Tensor, y: torch.Tensor):
            x, y = x.cuda(non_blocking=True), (y + 1).to("cuda")  # both
            return x + y
        """,
    ("DEV405", "in a statement of its own it may be meant for more"): """
        def move(x: torch.Tensor):
            x = x.pin_memory()
            return x.cuda(non_blocking=True)
        """,
    ("DEV406", "in one expression"): """
        mask = torch.zeros(16, 3).bool().to("cuda")
        # becomes (safe)
        mask = torch.zeros(16, 3, device="cuda").bool()
        """,
    ("DEV406", "in two statements"): """
        def make(device):
            mask = torch.zeros(
                16,  # rows
                3,
            )
            mask = mask.to(device)
            return mask
        # becomes (safe)
        def make(device):
            mask = torch.zeros(
                16,  # rows
                3,
                device=device,
            )
            return mask
        """,
    ("DEV406", "at the top level"): """
        mask = torch.zeros(3)
        mask = mask.cuda()
        print(mask)
        # becomes (safe)
        mask = torch.zeros(3, device="cuda")
        print(mask)
        """,
    ("DEV406", "other random numbers, and a dtype"): """
        noise = torch.randn(16).to("cuda", torch.float16)
        # becomes (unsafe)
        noise = torch.randn(16, device="cuda", dtype=torch.float16)
        """,
    ("DEV406", "not for the path that moves nothing"): """
        def make(move: bool):
            mask = torch.zeros(3)
            if move:
                mask = mask.to("cuda")
            return mask
        """,
    ("DEV406", "a device that is not known yet"): """
        def make():
            mask = torch.zeros(3)
            device = "cuda"
            mask = mask.to(device)
            return mask
        """,
    ("DEV406", "random numbers of NumPy"): """
        import numpy as np

        class Net(nn.Module):
            def forward(self, x):
                noise = torch.from_numpy(np.random.randn(3, 4)).to("cuda")
                return x + noise
        # becomes (unsafe)
        import numpy as np

        class Net(nn.Module):
            def forward(self, x):
                noise = torch.randn(3, 4, device="cuda", dtype=torch.float64)
                return x + noise
        """,
    ("DEV407", "where it is already"): """
        mask = torch.ones(3, device="cuda")
        mask = mask.to("cuda")
        print((mask + 1).cuda().sum())
        # becomes (safe)
        mask = torch.ones(3, device="cuda")
        print((mask + 1).sum())
        """,
    ("DEV407", "a whole block"): """
        mask = torch.ones(3, device="cuda")
        if mask.sum() > 2:
            mask = mask.to("cuda")  # to be sure
        # becomes (safe)
        mask = torch.ones(3, device="cuda")
        if mask.sum() > 2:
            pass  # to be sure
        """,
    ("DEV407", "two in a row"): """
        def load(x: torch.Tensor, device: torch.device):
            return x.cuda().to(device)
        # becomes (unsafe)
        def load(x: torch.Tensor, device: torch.device):
            return x.to(device)
        """,
    ("DEV407", "two in a row, the first of which casts"): """
        def load(x: torch.Tensor, device: torch.device):
            return x.to("cuda", torch.float16).to(device)
        """,
    ("DEV409", "a copy"): """
        scores = torch.rand(8, device="cuda")
        kept = torch.tensor(scores + 1, dtype=torch.float16, requires_grad=True)
        # becomes (safe)
        scores = torch.rand(8, device="cuda")
        kept = (scores + 1).detach().clone().to(dtype=torch.float16).requires_grad_(True)
        """,
    ("DEV409", "what the caller gives"): """
        def kept(values):
            return torch.tensor(values)

        kept(torch.ones(3, device="cuda"))
        # becomes (unsafe)
        def kept(values):
            return values.detach().clone()

        kept(torch.ones(3, device="cuda"))
        """,
    ("DEV409", "through NumPy"): """
        scores = torch.rand(8, device="cuda")
        kept = torch.tensor(scores.cpu().numpy())
        # becomes (unsafe)
        scores = torch.rand(8, device="cuda")
        kept = scores.detach().cpu().clone()
        """,
    ("DEV409", "through NumPy and back to the device"): """
        scores = torch.rand(8, device="cuda")
        kept = torch.tensor(scores.detach().cpu().numpy(), device="cuda")
        # becomes (unsafe)
        scores = torch.rand(8, device="cuda")
        kept = scores.detach().clone().to(device="cuda")
        """,
    ("DEV501", "both readings of the clock"): """
        import time

        def measure(n):
            a = torch.rand(n, n, device="cuda")
            start = time.perf_counter()
            b = a @ a
            return time.perf_counter() - start
        # becomes (unsafe)
        import time

        def measure(n):
            a = torch.rand(n, n, device="cuda")
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            start = time.perf_counter()
            b = a @ a
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            return time.perf_counter() - start
        """,
    ("DEV501", "a clock that is started where no wait can stand"): """
        import time

        def measure(n):
            a = torch.rand(n, n, device="cuda")
            if n > 3: start = time.perf_counter(); b = a @ a; print(time.perf_counter() - start)
        """,
    ("DEV501", "a clock of which only the end has room for a wait"): """
        import time

        def measure(n):
            a = torch.rand(n, n, device="cuda")
            with torch.no_grad(): start = time.perf_counter()
            b = a @ a
            return time.perf_counter() - start
        # becomes (unsafe)
        import time

        def measure(n):
            a = torch.rand(n, n, device="cuda")
            with torch.no_grad(): start = time.perf_counter()
            b = a @ a
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            return time.perf_counter() - start
        """,
    ("DEV501", "tabs"): """
        import time

        def measure(n):
        \ta = torch.rand(n, n, device="cuda")
        \tstart = time.perf_counter()
        \tb = a @ a
        \treturn time.perf_counter() - start
        # becomes (unsafe)
        import time

        def measure(n):
        \ta = torch.rand(n, n, device="cuda")
        \tif torch.cuda.is_available():
        \t\ttorch.cuda.synchronize()
        \tstart = time.perf_counter()
        \tb = a @ a
        \tif torch.cuda.is_available():
        \t\ttorch.cuda.synchronize()
        \treturn time.perf_counter() - start
        """,
    ("DEV502", "a copy that waits"): """
        scores = torch.rand(1000, device="cuda")
        copy = scores.to("cpu", non_blocking=True)
        print(copy.numpy())
        # becomes (safe)
        scores = torch.rand(1000, device="cuda")
        copy = scores.to("cpu")
        print(copy.numpy())
        """,
    ("DEV504", "a copy that is over before its source changes"): """
        buffer = torch.empty(1000, pin_memory=True)
        for number in range(100):
            buffer.fill_(number)
            batch = buffer.to("cuda", non_blocking=True)
        # becomes (safe)
        buffer = torch.empty(1000, pin_memory=True)
        for number in range(100):
            buffer.fill_(number)
            batch = buffer.to("cuda")
        """,
    ("DEV503", "a wait for nothing"): """
        scores = torch.rand(1000, device="cuda")
        best = scores.max().item()
        torch.cuda.synchronize()
        # becomes (unsafe)
        scores = torch.rand(1000, device="cuda")
        best = scores.max().item()
        """,
    ("DEV503", "all that a block holds"): """
        scores = torch.rand(1000, device="cuda")
        best = scores.max().item()
        if best > 0:
            torch.cuda.synchronize()
        """,
    ("DEV601", "a choice"): """
        def positions(n: int):
            with torch.autocast('cuda'):
                return torch.arange(n).to("cuda:1"), torch.zeros(n, device="mps")
        # becomes (unsafe)
        def positions(n: int):
            with torch.autocast('cuda' if torch.cuda.is_available() else 'cpu'):
                return torch.arange(n).to("cuda:1"), torch.zeros(n, device="mps" if torch.backends.mps.is_available() else "cpu")
        """,  # noqa: E501
    ("DEV601", "the device at hand"): """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        def positions(n: int):
            return torch.arange(n).cuda(), torch.ones(n, device='cuda')
        # becomes (unsafe)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        def positions(n: int):
            return torch.arange(n).to(device), torch.ones(n, device=device)
        """,
    ("DEV601", "the device of a neighbour"): """
        def noise(x: torch.Tensor):
            return x + torch.randn(x.shape, device="cuda")
        # becomes (unsafe)
        def noise(x: torch.Tensor):
            return x + torch.randn(x.shape, device=x.device)
        """,
    ("DEV601", "transfers by name"): """
        from torch import cuda

        def load(x: torch.Tensor, y: torch.Tensor):
            return x.cuda(), y.cuda(0, non_blocking=True)
        # becomes (unsafe)
        from torch import cuda

        def load(x: torch.Tensor, y: torch.Tensor):
            return x.to("cuda" if cuda.is_available() else "cpu"), y.to("cuda:0" if cuda.is_available() else "cpu", non_blocking=True)
        """,  # noqa: E501
    ("DEV601", "an old type"): """
        def one_hot(labels: torch.Tensor, n: int):
            return torch.cuda.FloatTensor(labels.size(0), n).zero_()
        """,
}


@pytest.mark.parametrize(("code", "name"), PAIRS)
def test_it_becomes(code: str, name: str) -> None:
    check_fix(PAIRS[code, name], code)
