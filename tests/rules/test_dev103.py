"""Plain tensor attributes of modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "the bounds of an environment's space": """
class Actor(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.scale = torch.tensor((env.action_space.high - env.action_space.low) / 2.0)  # DEV103

    def forward(self, x):
        return torch.tanh(self.fc(x)) * self.scale
""",
    "meets the input": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # DEV103

    def forward(self, x: torch.Tensor):
        return x * self.scale
""",
    "meets a parameter": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.mask = torch.tril(torch.ones(8, 8))  # DEV103

    def forward(self, x):
        return F.linear(x, self.fc.weight * self.mask)
""",
    "a layer takes it": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.start = torch.zeros(1, 8)  # DEV103

    def forward(self):
        return self.fc(self.start)
""",
    "positional encoding": """
import math

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        self.pe = pe.unsqueeze(0)  # DEV103

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]
""",
    "from a list of numbers": """
class Normalize(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)  # DEV103
        self.std = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)  # DEV103

    def forward(self, image: torch.Tensor):
        return (image - self.mean) / self.std
""",
    "as it runs": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # DEV103

    def forward(self, x):
        return x * self.scale

net = Net().to("cuda")
print(net(torch.ones(8).to("cuda")))
""",
    "in a method that the constructor calls": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.reset()

    def reset(self):
        self.state = torch.zeros(8)  # DEV103

    def forward(self, x: torch.Tensor):
        return x + self.state
""",
    "in a base class": """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.anchors = torch.ones(9, 4)  # DEV103

class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 36)

    def forward(self, x: torch.Tensor):
        return self.fc(x).view(-1, 9, 4) * self.anchors
""",
    "in a list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = [torch.ones(8), torch.ones(8)]  # DEV103

    def forward(self, x: torch.Tensor):
        for scale in self.scales:
            x = x * scale
        return x
""",
    "two files": """
# file: net.py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # DEV103

    def forward(self, x):
        return x * self.scale
# file: main.py
from net import Net

net = Net().cuda()
net(torch.ones(8).cuda())
""",
    "a file that does not import the class moves an attribute of that name": """
# file: net.py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # DEV103

    def forward(self, x):
        return x * self.scale
# file: other.py
def move(thing, device):
    thing.scale = thing.scale.to(device)
""",
    "meets what nobody annotated": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # DEV103

    def forward(self, x):
        return x * self.scale
""",
    "from NumPy": """
class Net(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.kernel = torch.from_numpy(np.ones((1, 1, 3, 3))).float()  # DEV103

    def forward(self, x: torch.Tensor):
        return F.conv2d(x, self.kernel)
""",
    "a frozen plain weight of a loss": """
class Focal(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.alpha = torch.ones(classes)  # DEV103

    def forward(self, logits: torch.Tensor, target: torch.Tensor):
        return F.cross_entropy(logits, target, weight=self.alpha)
""",
}

GOOD = {
    "half of a number that is called like a bound": """
class Actor(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.scale = torch.tensor(env.high / 2.0)

    def forward(self, x):
        return torch.tanh(self.fc(x)) * self.scale
""",
    "a file that imports the class through another one moves the attribute": """
# file: net.py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)

    def forward(self, x):
        return x * self.scale
# file: nets.py
from net import Net
# file: move.py
from nets import Net

def move(thing: Net, device):
    thing.scale = thing.scale.to(device)
""",
    "a cache that is looked at before it is used": """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.grid = torch.zeros(1)

    def forward(self, x):
        x = self.conv(x)
        if self.grid.shape[2:4] != x.shape[2:4]:
            self.grid = torch.arange(x.shape[3]).view(1, 1, 1, -1).expand(1, 1, x.shape[2], -1).to(x.device)
        return x + self.grid
""",
    "buffer": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(8))
        self.register_buffer("shift", torch.ones(8), persistent=False)
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return x * self.scale + self.shift * self.weight
""",
    "buffer assigned later": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", None)
        self.scale = torch.ones(8)

    def forward(self, x):
        return x * self.scale
""",
    "moved at use": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)

    def forward(self, x):
        return x * self.scale.to(x.device) + self.scale.type_as(x) + self.scale.to(x)
""",
    "moved at use, and kept": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)

    def forward(self, x):
        self.scale = self.scale.to(x.device)
        return x * self.scale
""",
    "0-dim": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.tensor(0.5)

    def forward(self, x):
        return x * self.scale
""",
    "_apply": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)

    def _apply(self, fn):
        super()._apply(fn)
        self.scale = fn(self.scale)
        return self

    def forward(self, x):
        return x * self.scale
""",
    "its own to": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)

    def to(self, *args, **kwargs):
        self.scale = self.scale.to(*args, **kwargs)
        return super().to(*args, **kwargs)

    def forward(self, x):
        return x * self.scale
""",
    "made anew in forward": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = torch.zeros(8)

    def forward(self, x):
        self.state = x.new_zeros(8)
        return x + self.state
""",
    "never a module": """
class Normalize:
    def __init__(self):
        self.mean = torch.ones(3)

    def __call__(self, x):
        return x - self.mean
""",
    "only its numbers": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes = torch.tensor([1, 2, 3])

    def forward(self, x):
        return x * self.sizes.sum().item() + len(self.sizes) + float(self.sizes[0])
""",
    "an index": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.order = torch.arange(8)

    def forward(self, x):
        return x[:, self.order]
""",
    "on the device it is given": """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.scale = torch.ones(8, device=device)
        self.fc = nn.Linear(8, 8).to(device)

    def forward(self, x):
        return self.fc(x) * self.scale
""",
    "with other plain attributes": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.ones(8)
        self.b = torch.zeros(8)

    def report(self):
        return self.a + self.b
""",
    "a dataset": """
class Data(torch.utils.data.Dataset):
    def __init__(self):
        self.mean = torch.ones(3)

    def __getitem__(self, index):
        return torch.rand(3) - self.mean
""",
    "moved when it differs": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)

    def forward(self, x):
        if self.scale.device != x.device:
            self.scale = self.scale.to(x.device)
        return x * self.scale
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_the_story_runs_from_the_factory_to_the_operation() -> None:
    (finding,) = check(BAD["meets the input"], "DEV1")
    assert finding.message == (
        "`self.scale` is a plain tensor, so `.to()` leaves it on cpu:"
        " it cannot be combined with `x` on the caller's device in `*`"
    )
    assert finding.help == (
        "register it, so that it moves with the module:"
        ' `self.register_buffer("scale", torch.ones(8), persistent=False)`'
    )
    rows = [note.region.start.row for note in finding.trace]
    assert rows[0] == rows[1] == 9
    assert rows[-1] == 12


def test_one_attribute_is_one_finding() -> None:
    check(
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # DEV103

    def forward(self, x, y):
        a = x * self.scale
        b = y + self.scale
        return a * b - self.scale

    def other(self, z: torch.Tensor):
        return z @ self.scale
""",
        "DEV1",
    )
