"""NumPy reads a tensor that autograd tracks."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "differentiated once it is scaled or divided, or behind the test that reads it": """
import math

def scaled(loader, model, scaler):
    for x in loader:
        loss = -torch.mean(model(x))
        if scaler is not None:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        print(loss.cpu().numpy())  # DEV117

def divided(loader, model, steps):
    for x in loader:
        loss = torch.mean(model(x))
        print(loss.cpu().numpy())  # DEV117
        loss = loss / steps
        loss.backward()

def tested(loader, model):
    for x in loader:
        loss = torch.mean(model(x))
        if not math.isnan(loss.cpu().numpy()):  # DEV117
            loss.backward()
""",
    "a dtype that NumPy lacks": """
x = torch.ones(3, dtype=torch.bfloat16)
print(x.numpy())  # DEV117
print(np.asarray(x))  # DEV117
def read(t: torch.Tensor):
    return t.bfloat16().cpu().numpy()  # DEV117
""",
    "a parameter": """
layer = nn.Linear(4, 2)
print(layer.weight.numpy())  # DEV117
""",
    "copied to the host only": """
layer = nn.Linear(4, 2).cuda()
print(layer.weight.cpu().numpy())  # DEV117
""",
    "an output": """
layer = nn.Linear(4, 2)
out = layer(torch.rand(3, 4))
print(np.mean(out), out.numpy())  # DEV117
""",
    "a view made under no_grad": """
layer = nn.Linear(4, 2)
with torch.no_grad():
    row = layer.weight[0]
print(row.numpy())  # DEV117
""",
    "requires_grad=True": """
x = torch.rand(3, requires_grad=True)
y = (x * 2).numpy()  # DEV117
""",
    "a loss after its backward pass": """
def train(model, criterion, loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        print(loss.cpu().numpy())  # DEV117
""",
    "a loss before its backward pass": """
def train(model, criterion, optimizer, loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        if y.sum() > 3:
            print(loss.cpu().numpy())  # DEV117
        optimizer.zero_grad(); loss.backward()
""",
    "a loss": """
model = nn.Linear(4, 2)
losses = []
for _ in range(3):
    loss = F.mse_loss(model(torch.rand(3, 4)), torch.rand(3, 2))
    losses.append(loss)
print(np.mean(losses))  # DEV117
""",
    "all parameters": """
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
flat = [p.numpy() for p in model.parameters()]  # DEV117
""",
    "through functions": """
def to_numpy(x):
    return x.cpu().numpy()  # DEV117

model = nn.Linear(4, 2)
to_numpy(model(torch.rand(3, 4)))
""",
    "a method": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def export(self):
        return self.fc.weight.cpu().numpy()  # DEV117
""",
}

GOOD = {
    "another loss, or its product with what may be all that requires grad": """
import math

def extended(loader, model):
    for x in loader:
        loss = torch.mean(model(x))
        print(loss.cpu().numpy())
        loss = loss + model.penalty()
        loss.backward()

def weighted(loader, model):
    for x in loader:
        value = torch.mean(model(x))
        print(value.cpu().numpy())
        (value * model.weight(x)).backward()

def skipped(loader, model):
    for x in loader:
        loss = torch.mean(model(x))
        if math.isnan(loss.cpu().numpy()):
            continue
""",
    "a dtype that NumPy has": """
x = torch.ones(3, dtype=torch.bfloat16)
print(x.float().numpy(), x.half().numpy(), x.view(torch.int16).numpy(), x.tolist(), x)
def read(t: torch.Tensor, dtype):
    t = t.bfloat16()
    if t.dtype == torch.bfloat16:
        t = t.float()
    return t.cpu().numpy(), t.to(dtype).numpy()
""",
    "detached": """
layer = nn.Linear(4, 2)
out = layer(torch.rand(3, 4))
print(layer.weight.detach().numpy(), out.detach().cpu().numpy(), layer.weight.data.numpy(), np.mean(out.detach()))
""",
    "no_grad": """
layer = nn.Linear(4, 2)
with torch.no_grad():
    out = layer(torch.rand(3, 4))
print(out.numpy())
""",
    "a parameter under no_grad": """
layer = nn.Linear(4, 2)
with torch.no_grad():
    print(layer.weight.numpy(), layer.weight.cpu().numpy())
""",
    "inference_mode": """
layer = nn.Linear(4, 2)

@torch.inference_mode()
def predict(x):
    return layer(x).cpu().numpy()

@torch.no_grad()
def evaluate(x):
    return layer(x).argmax(1).numpy()

predict(torch.rand(3, 4)), evaluate(torch.rand(3, 4))
""",
    "a loss whose backward pass is another's": """
def train(model, criterion, loader, is_training):
    for x, y in loader:
        loss = criterion(model(x), y)
        print(loss.cpu().numpy())
        if is_training:
            loss.backward()

def evaluate(model, criterion, loader, is_training):
    for x, y in loader:
        loss = criterion(model(x), y)
        if not is_training:
            print(loss.cpu().numpy())
            continue
        loss.backward()

def follow(model, criterion, loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        print(loss.cpu().numpy())
        loss = criterion(model(x), 2 * y)
        loss.backward()
""",
    "a loss out of autograd": """
def train(model, criterion, loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        print(loss.detach().cpu().numpy())
        loss.backward()
        print(loss.detach().cpu().numpy(), loss.item(), loss.data.numpy())
        with torch.no_grad():
            print(loss.cpu().numpy())
""",
    "numbers": """
layer = nn.Linear(4, 2)
loss = layer(torch.rand(3, 4)).mean()
print(np.mean([loss.item(), float(loss)]), loss.tolist())
""",
    "integers": """
layer = nn.Linear(4, 2)
print(layer(torch.rand(3, 4)).argmax(1).numpy(), (layer(torch.rand(3, 4)) > 0).numpy())
""",
    "state_dict": """
layer = nn.Linear(4, 2)
weights = {name: value.numpy() for name, value in layer.state_dict().items()}
""",
    "force": """
print(nn.Linear(4, 2).weight.numpy(force=True))
""",
    "gradient": """
x = torch.rand(3, requires_grad=True)
x.sum().backward()
print(x.grad.numpy())
""",
    "grad switched off": """
torch.set_grad_enabled(False)
layer = nn.Linear(4, 2)
print(layer(torch.rand(3, 4)).numpy())
""",
    "frozen": """
layer = nn.Linear(4, 2).requires_grad_(False)
print(layer.weight.numpy())
for p in layer.parameters():
    p.requires_grad = False
print(layer(torch.rand(3, 4)).numpy())
""",
    "a buffer": """
norm = nn.BatchNorm1d(4)
print(norm.running_mean.numpy())
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV117", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_the_first_error_is_the_one_reported() -> None:
    check("print(nn.Linear(4, 2).cuda().weight.numpy())  # DEV106", "DEV1")
