"""Parameters and leaves that a transfer turned into plain results."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "a leaf that its helper has made on the host": """
class Painter:
    def __init__(self, device):
        self.device = device

    def prepare(self):
        return torch.rand(3, 8, 8)

    def start(self):
        image = self.prepare().clone().detach().requires_grad_(True).to(self.device)  # DEV113
        self.optimizer = torch.optim.Adam([image])
""",
    "given to an optimizer": """
device = torch.device("cuda")
x = torch.rand(3, requires_grad=True).to(device)  # DEV113
optimizer = torch.optim.SGD([x], lr=0.1)
""",
    "its gradient is read": """
x = torch.rand(3, requires_grad=True).cuda()  # DEV113
(x ** 2).sum().backward()
print(x.grad)
""",
    "a parameter that is moved while autograd records": """
w = nn.Parameter(torch.rand(3)).cuda()  # DEV113
(w ** 2).sum().backward()
print(w.grad)
""",
    "conditional device": """
device = "cuda" if torch.cuda.is_available() else "cpu"
w = torch.randn(3, 3, requires_grad=True).to(device)  # DEV113
loss = (w @ torch.ones(3, device=device)).sum()
loss.backward()
w.data -= 0.1 * w.grad
""",
    "in two steps": """
x = torch.rand(3)
x.requires_grad_()
x = x.cuda()  # DEV113
torch.optim.Adam([x])
""",
    "several leaves": """
a = torch.rand(3, requires_grad=True).cuda()  # DEV113
b = torch.rand(3, requires_grad=True).cuda()  # DEV113
torch.optim.LBFGS([a, b])
""",
    "a moved Parameter as attribute": """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(8)).to(device)  # DEV113

    def forward(self, x):
        return x * self.weight

net = Net("cuda")
""",
    "kept beside one that a method replaces": """
class Net(nn.Module):
    def __init__(self, n, device):
        super().__init__()
        self.result = nn.Parameter(torch.rand(n, 3)).to(device)
        self.kept = nn.Parameter(torch.rand(n, 3)).to(device)  # DEV113

    def forward(self, x):
        self.result = torch.cat((x, self.kept))
        return self.result[0]
""",
    "cuda() of a Parameter": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(8)).cuda()  # DEV113
""",
}

GOOD = {
    "a parameter that is moved while autograd does not record": """
with torch.no_grad():
    w = nn.Parameter(torch.rand(3)).cuda()
w.requires_grad = True
(w ** 2).sum().backward()
print(w.grad)
optimizer = torch.optim.SGD([w], lr=0.1)
""",
    "a leaf asked to lie where its helper may have made it": """
import cv2

class Painter:
    def __init__(self, convert, device):
        self.convert, self.device = convert, device

    def prepare(self, path):
        return self.convert(cv2.imread(path))

    def start(self, path):
        image = self.prepare(path).clone().detach().requires_grad_(True).to(self.device)
        self.optimizer = torch.optim.Adam([image])
""",
    "made there": """
x = torch.rand(3, device="cuda", requires_grad=True)
torch.optim.Adam([x])
""",
    "moved first": """
x = torch.rand(3).cuda().requires_grad_()
torch.optim.Adam([x])
y = torch.rand(3).cuda()
y.requires_grad = True
torch.optim.Adam([y])
z = torch.rand(3).to("cuda").requires_grad_(True)
z.sum().backward()
print(z.grad)
""",
    "detached": """
x = torch.rand(3, requires_grad=True).cuda().detach().requires_grad_()
torch.optim.Adam([x])
""",
    "the same device": """
x = torch.rand(3, requires_grad=True).cpu()
torch.optim.Adam([x])
y = torch.rand(3, device="cuda", requires_grad=True).to("cuda")
torch.optim.Adam([y])
""",
    "only computed with": """
x = torch.rand(3, requires_grad=True)
y = x.cuda()
(y * 2).sum().backward()
print(x.grad)
torch.optim.Adam([x])
""",
    "moved inside": """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(8).to(device))
        self.bias = nn.Parameter(torch.rand(8, device=device))
""",
    "a Parameter moved for a computation": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(8))

    def forward(self, x):
        return x * self.weight.to(x.device)
""",
    "the module is moved": """
model = nn.Linear(8, 2).cuda()
torch.optim.Adam(model.parameters())
""",
    "gradient retained": """
x = torch.rand(3, requires_grad=True).cuda()
x.retain_grad()
x.sum().backward()
print(x.grad)
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_the_story_ends_where_it_is_used_as_a_leaf() -> None:
    (finding,) = check(BAD["given to an optimizer"], "DEV1")
    assert finding.message == "`.to()` makes a new tensor that is not a leaf, yet it is given to an optimizer"
    assert [(note.region.start.row, note.message) for note in finding.trace] == [(8, "it is given to an optimizer")]
    assert finding.trace[-1].message == "it is given to an optimizer"


def test_the_help_writes_the_parameter_of_the_program() -> None:
    (finding,) = check(
        """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8)).to(device)  # DEV113
""",
        "DEV113",
    )
    assert finding.message.endswith("yet it is kept as the attribute `scale`: `parameters()` leaves it out")
    assert finding.help is not None and "`nn.Parameter(torch.ones(8).to(device))`" in finding.help
