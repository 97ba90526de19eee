"""Names that are bound to a moved tensor nobody uses."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "parts of a batch": """
from torch.utils.data import DataLoader
def train(model, dataset, device):
    for x, y in DataLoader(dataset, batch_size=4):
        for part in [x, y]:
            part = part.to(device)  # DEV202
        model(x, y)
    for batch in DataLoader(dataset, batch_size=4):
        for key, value in batch.items():
            value = value.to(device)  # DEV202
        model(batch)
""",
    "parts of a batch of a loader that is handed in": """
@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    for x, y in loader:
        for part in [x, y]:
            part = part.to(device)  # DEV202
        print(model(x), y)
    for x, y in loader:
        for part in (x, y):
            part = part.to(device)  # DEV202
        print(x.numel())
""",
    "a part of a batch, element by element": """
from torch.utils.data import DataLoader
def train(model, dataset, device):
    for views, name in DataLoader(dataset, batch_size=4):
        for view in views:
            view = view.to(device)  # DEV202
        model(views[0], views[1])
""",
    "on the device that a derived class passes on": """
class Base:
    def __init__(self, model, loader, device):
        self.model, self.loader, self.device = model, loader, device
        self.model.train()
class Derived(Base):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.model.eval()
    def run(self):
        for x, y in self.loader:
            for part in [x, y]:
                part = part.to(self.device)  # DEV202
            print(self.model(x), y)
""",
    "moved after its use": """
def fit(views: list[torch.Tensor], device):
    found = []
    for view in views:
        found.append(view.mean())
        view = view.to(device)  # DEV202
    return found
""",
    "moved back in a loop of its own": """
views = [torch.rand(3)]
for view in views:
    view = view.to("cuda")  # DEV202
for view in views:
    view = view.to("cpu")  # DEV202
""",
    "a list": """
views = [torch.rand(3), torch.rand(4)]
for view in views:
    view = view.to("cuda")  # DEV202
""",
    "parameters of a module": """
model = nn.Linear(3, 3)
for p in model.parameters():
    p = p.cuda()  # DEV202
""",
    "the items of a dict": """
batch = {"x": torch.rand(3), "y": torch.rand(3)}
for key, value in batch.items():
    value = value.to("cuda")  # DEV202
""",
    "with enumerate and zip": """
xs, ys = [torch.rand(3)], [torch.rand(3)]
for i, x in enumerate(xs):
    x = x.cuda()  # DEV202
for x, y in zip(xs, ys):
    x = x.cuda()  # DEV202
    print(y)
""",
    "a cast": """
weights = [torch.rand(3)]
for w in weights:
    w = w.half()  # DEV202
""",
    "an argument that is a tensor": """
def move(noise: torch.Tensor, device):
    noise = noise.to(device)  # DEV203
""",
    "two arguments": """
def to_cuda(real: torch.Tensor, fake: torch.Tensor):
    real = real.cuda()  # DEV203
    fake = fake.cuda()  # DEV203
""",
    "in a function that ends early": """
def to_cuda(real: torch.Tensor, wanted):
    if not wanted:
        return
    real = real.cuda()  # DEV203
""",
    "a method": """
class Trainer:
    def prepare(self, x: torch.Tensor):
        print(x.shape)
        x = x.to(self.device)  # DEV203
""",
    "the parts of one batch by name": """
def run(batch: dict[str, torch.Tensor]):
    for name, part in batch.items():
        part = part.cuda()  # DEV202
""",
    "the parameters by name": """
def run(model: nn.Module):
    for name, parameter in model.named_parameters():
        parameter = parameter.to("cuda")  # DEV202
""",
}

GOOD = {
    "moved to where it was at the end of the loop": """
def fit(views: list[torch.Tensor], device):
    found = []
    for view in views:
        before = view.device
        view = view.to(device)
        found.append(view.mean())
        view = view.to(before)
    return found
""",
    "members of a batch that nobody reads": """
from torch.utils.data import DataLoader
def train(model, dataset, device):
    for x, y, lengths in DataLoader(dataset, batch_size=4):
        x, y = x.to(device), y.to(device)
        lengths = lengths.to(device)
        model(x).backward(y)

def evaluate(model, pbar, device):
    for x, y in pbar:
        y = y.to(device)
        model(x.to(device))
""",
    "pairs of modules": """
def place(agents, device):
    for actor, critic in agents:
        for net in [actor, critic]:
            net = net.to(device)
        print(actor, critic)
""",
    "a part of a batch that nobody reads again": """
from torch.utils.data import DataLoader
def measure(dataset, device):
    for views, name in DataLoader(dataset, batch_size=4):
        for view in views:
            view = view.to(device)
""",
    "a part of a batch, used element by element": """
from torch.utils.data import DataLoader
def train(model, dataset, device):
    for views, name in DataLoader(dataset, batch_size=4):
        for view in views:
            view = view.to(device)
            model(view)
        print(views)
""",
    "a function's own copy that is moved back": """
def distances(features: torch.Tensor, on_gpu):
    if on_gpu:
        features = features.cuda()
    found = torch.cdist(features, features).cpu()
    features = features.cpu()
    return found
""",
    "a loop that only loads": """
from torch.utils.data import DataLoader
def measure(dataset, device):
    for x, y in DataLoader(dataset, batch_size=4):
        x = x.to(device)
        y = y.to(device)
""",
    "models, and parts of a batch that are used": """
from torch.utils.data import DataLoader
def train(model, teacher, dataset, device):
    for one in [model, teacher]:
        one = one.to(device)
    for batch in DataLoader(dataset, batch_size=4):
        for key, value in batch.items():
            value = value.to(device)
            batch[key] = value
        for part in [batch["x"], batch["y"]]:
            part = part.to(device)
            print(part.sum())
        model(batch)

def generate(pipeline, device):
    pipeline = pipeline.to(device)
    for one in [pipeline.unet, pipeline.vae]:
        one = one.half()
    return pipeline("a cat")
""",
    "moved back at the end of the iteration": """
def means(views: list[torch.Tensor], device):
    found = []
    for view in views:
        before = view.device
        view = view.to(device)
        found.append(view.mean(dim=0))
        view = view.to(before)
    return found
""",
    "used in the body": """
for view in [torch.rand(3)]:
    view = view.to("cuda")
    print(view.sum())
""",
    "collected": """
views, moved = [torch.rand(3)], []
for view in views:
    view = view.to("cuda")
    moved.append(view)
""",
    "put back": """
views = [torch.rand(3)]
for i, view in enumerate(views):
    view = view.to("cuda")
    views[i] = view
batch = {"x": torch.rand(3)}
for k, v in batch.items():
    batch[k] = v.to("cuda")
""",
    "yielded": """
def batches(loader, device):
    for x in loader:
        x = x.to(device)
        yield x
""",
    "the last one is used after the loop": """
def last(views: list[torch.Tensor]):
    for view in views:
        view = view.cuda()
    return view
""",
    "the data of each parameter": """
def move(model, device):
    for p in model.parameters():
        p.data = p.data.to(device)
""",
    "a module among a list": """
def move(models, device):
    for model in models:
        model = model.to(device)
        model.eval()
    layers = [nn.Linear(3, 3)]
    for layer in layers:
        layer = layer.to(device)
""",
    "an argument that is used, returned or kept": """
class Cache:
    def put(self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor):
        x = x.cuda()
        self.x = x
        y = y.cuda()
        print(y)
        z = z.cuda()
        return z
""",
    "an argument that may be a module or a batch that moves in place": """
def prepare(model, inputs):
    model = model.to("cuda")
    inputs = inputs.to("cuda")
""",
    "one part of the batches that a function collates": """
from torch.utils.data import DataLoader

def collate(samples):
    return torch.tensor([one[0] for one in samples]), torch.tensor([one[1] for one in samples])

def run(model: nn.Module, samples, device):
    model.to(device)
    for words, kinds in DataLoader(samples, batch_size=4, collate_fn=collate):
        words = words.to(device)
        kinds = kinds.to(device)
        model(words)
""",
    "what a function that computes something else leaves unused": """
def loss(spectra: torch.Tensor, target: torch.Tensor, g: torch.Tensor):
    g = g.to(dtype=torch.bfloat16)
    target = target.cuda()
    return spectra.abs().mean()
""",
    "a closure reads it": """
def make(x: torch.Tensor):
    x = x.cuda()
    return lambda: x + 1
""",
    "the next iteration reads it": """
def run(x: torch.Tensor, n: int):
    for _ in range(n):
        print(x)
        x = x.cuda()
""",
    "under a condition, used in both cases": """
def run(x: torch.Tensor, use_cuda):
    if use_cuda:
        x = x.cuda()
    return x.sum()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV202")
    check(source, "DEV203")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV202")
    check(source, "DEV203")


@pytest.mark.parametrize(
    ("loop", "advice"),
    [
        ("ts = [torch.ones(3)]\nfor t in ts:\n    t = t.cuda()", "write `ts = [t.cuda() for t in ts]`"),
        (
            "d = {'a': torch.ones(3)}\nfor k, v in d.items():\n    v = v.cuda()",
            "write `d = {k: v.cuda() for k, v in d.items()}`",
        ),
        ("net = nn.Linear(2, 2)\nfor p in net.parameters():\n    p = p.to('cuda')", "write `net.to('cuda')`"),
    ],
)
def test_the_advice_fits_the_loop(loop: str, advice: str) -> None:
    (found,) = check(f"{loop}  # DEV202\n", "DEV202")
    assert found.help == advice
