"""Memory written in place while another name for it is in use."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "the best weights so far": """
class Trainer:
    def __init__(self, model, device):
        self.model = model.to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.best = None

    def fit(self, loader, device):
        for x in loader:
            self.model(x.to(device)).sum().backward()
            self.optimizer.step()  # DEV204
            self.best = {k: v.cpu() for k, v in self.model.state_dict().items()}

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
Trainer(nn.Linear(3, 3), device).fit(torch.rand(4, 2, 3), device)
""",
    "the weights at the start": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 3).to(device)
optimizer = torch.optim.Adam(model.parameters())
start = [p.detach().cpu() for p in model.parameters()]
model(torch.rand(2, 3, device=device)).sum().backward()
optimizer.step()  # DEV204
print(start)
""",
    "a copy to the host that may be none": """
device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.ones(5)
b = a.to(device)
c = b.cpu()
print(torch.equal(a, c))
a[0] = 7  # DEV204
print(c)
""",
    "an array of the caller's tensor": """
def normalise(t: torch.Tensor):
    a = t.cpu().numpy()
    a /= a.max()  # DEV204
    return a
""",
    "the array a tensor was made from": """
values = np.zeros(4)
x = torch.from_numpy(values)
values += 1  # DEV204
print(x)
""",
    "a detached tensor": """
w = torch.ones(3, requires_grad=True)
saved = w.detach()
with torch.no_grad():
    w.mul_(2)  # DEV204
print(saved)
""",
    "snapshots of a state that is stepped in place": """
def simulate(n: int, device: str):
    state, history = torch.zeros(3, device=device), []
    for _ in range(n):
        history.append(state.cpu())
        state += 0.1  # DEV204
    return history
""",
    "what a dataset keeps": """
class Images:
    def __init__(self, n: int):
        self.images = np.ones((n, 3, 8, 8))

    def __getitem__(self, i: int):
        image = torch.from_numpy(self.images[i])
        image.sub_(0.5).div_(0.5)  # DEV204
        return image
""",
    "an array written through out=": """
def clip(t: torch.Tensor):
    a = t.detach().cpu().numpy()
    np.clip(a, 0, 1, out=a)  # DEV204
    return a
""",
    "a cast that may be none": """
def masked(scores: torch.Tensor, mask: torch.Tensor):
    scores = scores.float()
    scores[mask] = -1e9  # DEV204
    return scores.softmax(-1)
""",
    "in a helper": """
def scale_(values):
    values *= 255

x = torch.rand(8, 8)
image = x.numpy()
scale_(image)
print(x.mean())
""".replace("values *= 255", "values *= 255  # DEV204"),
    "an attribute": """
class Average:
    def __init__(self, start: torch.Tensor):
        self.value = start.detach()

    def update(self, x: torch.Tensor):
        self.value.mul_(0.9).add_(x)  # DEV204
""",
    "a part of it": """
x = torch.rand(4, 8)
first = x[0].numpy()
x[0] += 1  # DEV204
print(first)
""",
}

GOOD = {
    "snapshots that outlive no step": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def train(loader):
    model = nn.Linear(3, 3).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    best = None
    for x in loader:
        model(x.to(device)).sum().backward()
        optimizer.step()
        state = {k: v.cpu() for k, v in model.state_dict().items()}
        torch.save(state, "last.pt")
        best = {k: v.cpu().clone() for k, v in model.state_dict().items()}
    return best

train(torch.rand(4, 2, 3))
""",
    "a deep copy": """
import copy

def normalize(points: torch.Tensor):
    points = copy.deepcopy(points).float()
    points[..., 0] /= 2
    return points
""",
    "cloned": """
def keep(x: torch.Tensor):
    saved = x.cpu().clone()
    also = x.to("cpu", copy=True)
    array = x.cpu().numpy().copy()
    x.add_(1)
    return saved, also, array
""",
    "nobody looks at it again": """
def run(device):
    x = torch.ones(3, device=device)
    x = x.cpu()
    x.add_(1)
    return x
""",
    "on an accelerator for sure": """
x = torch.ones(3, device="cuda")
h = x.cpu()
x.add_(1)
print(h)
""",
    "written through a temporary": """
def fill(p: torch.Tensor, values):
    p.detach().copy_(values)
    p.data.mul_(0.9)
    p.numpy()[:] = values
    return p
""",
    "a window into a new tensor": """
def load(read_into):
    x = torch.empty(3)
    window = x.numpy()
    window[:] = read_into()
    return x
""",
    "two attributes of one buffer": """
class Ring:
    def __init__(self):
        self.shared = torch.zeros(8)
        self.window = self.shared.numpy()

    def put(self, i, value):
        self.window[i] = value

    def all(self):
        return self.shared
""",
    "views": """
x = torch.rand(3, 4)
row, flat = x[0], x.view(-1)
row.add_(1)
print(flat, x.t())
""",
    "another part of it": """
x = torch.rand(4, 8)
first = x[0].numpy()
x[1] += 1
print(first)
""",
    "another element in each iteration": """
def collect(batch: torch.Tensor):
    rows = []
    for row in batch:
        row.mul_(2)
        rows.append(row.cpu())
    return rows
""",
    "another tensor in each iteration": """
def collect(n: int):
    rows = []
    for _ in range(n):
        x = torch.zeros(3)
        x.add_(1)
        rows.append(x.numpy())
    return rows
""",
    "bound anew": """
x = torch.rand(3)
before = x.numpy()
x = x + 1
x.mul_(2)
print(before, x)
""",
    "an average of its own": """
def ema(model: nn.Module, other: nn.Module):
    shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
    for name, p in other.named_parameters():
        shadow[name].mul_(0.9).add_(p.detach(), alpha=0.1)
    return shadow
""",
    "made contiguous in another order": """
def to_tensor(image: torch.Tensor):
    x = image.permute(2, 0, 1).contiguous()
    x /= 255
    y = image.t().contiguous()
    y.mul_(2)
    return x, y
""",
    "only seen otherwise": """
def prepare(x: torch.Tensor):
    y = x.detach()
    y.requires_grad_()
    z = y.unsqueeze(0).cpu()
    z.squeeze_(0)
    return y, z
""",
    "under the condition that copies": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(3, device=device)
h = x.cpu()
if device.type == "cuda":
    x.add_(1)
    print(h)
""",
    "computed in between": """
x = torch.ones(3)
y = (x * 2).numpy()
y += 1
print(x, y)
""",
    "another dtype for sure": """
x = torch.ones(3)
h = x.half()
x.add_(1)
print(h)
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV204")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV204")
