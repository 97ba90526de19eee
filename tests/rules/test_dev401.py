"""Round trips in a loop."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "some arithmetic on the host": """
def smooth(x: torch.Tensor, n):
    x = x.cuda()
    for _ in range(n):
        h = x.cpu() * 0.9
        h = h + 1
        x = h.cuda()  # DEV401
    return x
""",
    "in a helper that is called on the host copy": """
def min_max(x):
    return (x - x.amin()) / (x.amax() - x.amin())

def metrics(predictions, targets):
    scores = []
    for pred, target in zip(predictions, targets):
        normed = min_max(pred.cpu())
        normed = normed.to(target.device)  # DEV401
        scores.append((normed - target).mean())
    return scores

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
metrics(torch.rand(6, 4, device=device), torch.rand(6, 4, device=device))
""",
    "what a loop goes over, and what the host has made": """
def keep(prototypes, n):
    kept = []
    for prototype in prototypes:
        prototype = prototype.to("cuda")  # DEV401
        kept.append(prototype.cpu())
    for key in range(n):
        prototype = torch.ones(n, n).to("cuda")  # DEV401
        kept.append(prototype.cpu())
    return kept
""",
    "with a device the caller chooses": """
def refine(x: torch.Tensor, n: int, device):
    x = x.to(device)
    for _ in range(n):
        h = x.cpu()
        x = (h * 2).to(device)  # DEV401
    return x
""",
    "after the loop has brought its own batch": """
def evaluate(data, model):
    for batch in data:
        batch = batch.to("cuda")  # DEV401
        out = model(batch.to("cpu"))
    return out
""",
    "to the host and back to the same of several": """
for part in torch.rand(8, 3):
    part = part.to("cuda:1")
    y = part.to("cpu").to("cuda:1")  # DEV401
""",
    "while": """
x = torch.rand(3, device="cuda")
while True:
    x = x.to("cpu").to("cuda")  # DEV401
""",
    "to the host, and back in an inner loop": """
def fade(rounds: int):
    state = torch.rand(3, device="cuda")
    for _ in range(rounds):
        host = state.cpu()
        while state.sum() < 1:
            state = host.to("cuda")  # DEV401
    return state
""",
    "to the host and back": """
x = torch.rand(3, device="cuda")
for _ in range(4):
    h = x.cpu()
    y = h.to("cuda")  # DEV401
""",
    "through NumPy": """
x = torch.rand(3, device="cuda")
for _ in range(4):
    a = x.detach().cpu().numpy()
    y = torch.from_numpy(a).cuda()  # DEV401
""",
    "sorted by NumPy": """
def suppress(scores: torch.Tensor, n: int):
    scores = scores.cuda()
    for i in range(n):
        rest = scores[i:].cpu().numpy()
        rank = np.argsort(-rest) + i
        scores = scores[torch.from_numpy(rank).cuda()]  # DEV401
    return scores
""",
    "clipped by a method of the array": """
def limit(x: torch.Tensor, n: int):
    x = x.cuda()
    for _ in range(n):
        clipped = x.cpu().numpy().clip(0, 1).cumsum(axis=0)
        x = torch.as_tensor(clipped).cuda()  # DEV401
    return x
""",
    "to the accelerator and back": """
model = nn.Linear(3, 1)
for batch in torch.rand(8, 3):
    batch = batch.to("cuda")  # DEV401
    out = model(batch.to("cpu"))
""",
    "up, down and up again": """
for label in torch.ones(8, 3, dtype=torch.int64):
    up = label.cuda()
    down = up.type(torch.FloatTensor)
    again = down.cuda()  # DEV401
    print(again.sum())
""",
}

GOOD = {
    "what may have been computed on the accelerator": """
def keep(prototypes):
    kept = []
    for key in prototypes:
        prototype = torch.cat(prototypes[key], dim=0).to("cuda")
        kept.append(prototype.cpu())
    return kept
""",
    "from one accelerator to another": """
for part in torch.rand(8, 3, device="cuda:0"):
    print(part.to("cpu").to("cuda:1"))
""",
    "read on the host by a function that is lent it": """
def log(times, losses):
    for name, values in losses.items():
        for time, value in zip(times.cpu().numpy(), values.detach().cpu().numpy()):
            print(name, time, value)

net = nn.Embedding(4, 3).cuda()
for x in range(3):
    times = torch.from_numpy(np.random.choice(4, size=3)).to("cuda")
    loss = net(times).sum(1)
    log(times, {"a": loss, "b": loss * 2})
""",
    "outside a loop": """
x = torch.rand(3, device="cuda")
y = x.cpu().to("cuda")
""",
    "the host reads the value as well": """
import logging
x = torch.rand(3, device="cuda")
for _ in range(4):
    h = x.cpu()
    print(h)
    y = h.to("cuda")
for _ in range(4):
    h = x.cpu()
    logging.info(h.mean().item())
    y = h.to("cuda")
""",
    "the host keeps the value": """
x, kept = torch.rand(3, device="cuda"), []
for _ in range(4):
    h = x.cpu()
    kept.append(h)
    y = h.to("cuda")
""",
    "the host keeps the value, and computes with it": """
def record(x: torch.Tensor, n: int):
    x, kept = x.cuda(), []
    for _ in range(n):
        h = x.cpu()
        kept.append(h)
        x = (h * 2).cuda()
    return kept
""",
    "the next iteration looks at the value": """
def watch(x: torch.Tensor, n: int):
    x = x.cuda()
    h = torch.zeros(3)
    for _ in range(n):
        x = x + h.cuda()
        print(h)
        h = x.cpu()
    return x
""",
    "NumPy computes in between": """
x = torch.rand(3, device="cuda")
for _ in range(4):
    a = x.cpu().numpy()
    a = np.median(a, axis=0)
    y = torch.from_numpy(a).cuda()
""",
    "the array that NumPy sorts is read by the host as well": """
import matplotlib.pyplot as plt

def suppress(scores: torch.Tensor, n: int):
    scores = scores.cuda()
    for i in range(n):
        rest = scores[i:].cpu().numpy()
        rank = np.argsort(-rest) + i
        print(rest.mean())
        scores = scores[torch.from_numpy(rank).cuda()]
    return scores

def draw(scores: torch.Tensor, n: int):
    scores = scores.cuda()
    for i in range(n):
        rank = np.argsort(scores.cpu().numpy())
        plt.plot(rank)
        scores = scores[torch.from_numpy(rank).cuda()]
    return scores

def shown(scores: torch.Tensor, n: int):
    scores = scores.cuda()
    for i in range(n):
        rest = scores.cpu().numpy()
        half, double = rest / 2, rest * 2
        plt.plot(double)
        scores = torch.from_numpy(half).cuda()
    return scores
""",
    "another library computes in between": """
from scipy.ndimage import gaussian_filter

def smooth(x: torch.Tensor, n: int):
    x = x.cuda()
    for _ in range(n):
        filtered = gaussian_filter(x.cpu().numpy(), 2)
        x = torch.from_numpy(np.clip(filtered, 0, 1)).cuda()
    return x
""",
    "the array is used on the host as well": """
x = torch.rand(3, device="cuda")
for _ in range(4):
    a = x.cpu().numpy()
    np.save("a.npy", a)
    y = torch.from_numpy(a).cuda()
""",
    "a training loop": """
model = nn.Linear(3, 1).cuda()
total = []
for x in torch.rand(8, 4, 3):
    x = x.cuda()
    out = model(x)
    total.append(out.cpu())
""",
    "up once, down in each step": """
x = torch.rand(3).cuda()
for _ in range(4):
    x = x * 2
    print(x.cpu())
""",
    "another tensor goes up": """
x = torch.rand(3, device="cuda")
for t in torch.rand(8, 3):
    print(x.cpu().sum())
    x = x + t.cuda()
""",
    "what was used on the accelerator comes back for the host": """
model = nn.Linear(3, 1).cuda()
for images in torch.rand(8, 4, 3):
    images = images.cuda()
    out = model(images)
    print(images.cpu(), out.mean().item())
""",
    "batches that an inner loop collects on the host for other loops": """
def defend(model: nn.Module, loader: torch.utils.data.DataLoader, strengths: list[float]):
    model = model.cuda()
    kept = {}
    for seed in range(3):
        for strength in strengths:
            batches = []
            for batch in loader:
                found = model(batch.cuda())
                batches.append(found.detach().cpu())
            kept[strength] = batches
        for strength in strengths:
            for found in kept[strength]:
                model(found.cuda()).sum().backward()
""",
    "results that are collected on the host for another pass": """
def inference(model, x_all, chunks, n):
    model = nn.Linear(3, 3).cuda()
    x_all = torch.rand(100, 3)
    for layer in range(n):
        parts = []
        for ids in chunks:
            x = x_all[ids].cuda()
            parts.append(model(x).cpu())
        x_all = torch.cat(parts)
    return x_all
""",
    "modules": """
model = nn.Linear(3, 1).cuda()
for epoch in range(3):
    model.cpu()
    torch.save(model.state_dict(), "model.pt")
    model.cuda()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV401")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV401")


REBUILT = """
def keep(scores: torch.Tensor, n: int):
    scores = scores.cuda()
    for _ in range(n):
        print({} + 1)  # DEV401
"""


def test_an_array_in_between_is_no_work() -> None:
    (found,) = check(REBUILT.format("torch.tensor(scores.cpu().numpy()).cuda()"), "DEV401")
    assert found.message == "`scores` is copied to the host and back to cuda in every iteration"
    assert (found.help, found.assumptions) == ("use `scores` itself", ())
    (computed,) = check(REBUILT.format("torch.tensor(np.clip(scores.cpu().numpy(), 0, 1)).cuda()"), "DEV401")
    assert computed.help == "do the work in between on cuda, and leave both transfers out"
    assert [one.message for one in computed.assumptions] == [
        "torch can compute on cuda what the host computes in between"
    ]


def test_a_warning_tells_what_dev409_would_tell() -> None:
    check(REBUILT.format("torch.tensor(scores.cpu().numpy()).cuda()"), "DEV40")
    check(REBUILT.format("torch.tensor(scores.cpu().numpy())").replace("DEV401", "DEV409"), "DEV40")
