"""Optimizers whose state is made before the parameters are moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

NET = """
net = nn.Linear(3, 1)
x = torch.ones(4, 3, device="cuda")
"""
BAD = {
    "loaded before the move": """
opt = torch.optim.Adam(net.parameters())
opt.load_state_dict(torch.load("opt.pt"))  # DEV114
net.cuda()
net(x).sum().backward()
opt.step()
""",
    "made at once": """
opt = torch.optim.Adagrad(net.parameters(), lr=0.1)  # DEV114
net.to("cuda")
net(x).sum().backward()
opt.step()
""",
    "made by a step": """
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
net(torch.ones(4, 3)).sum().backward()
opt.step()  # DEV114
net.cuda()
for _ in range(10):
    net(x).sum().backward()
    opt.step()
""",
    "several groups": """
head = nn.Linear(1, 1).cuda()
opt = torch.optim.AdamW([{"params": head.parameters()}, {"params": net.parameters(), "lr": 0.1}])
opt.load_state_dict(torch.load("opt.pt"))  # DEV114
net.cuda()
head(net(x)).sum().backward()
opt.step()
""",
    "where there is an accelerator": """
def main(resume):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(3, 3)
    opt = torch.optim.Adam(model.parameters())
    if resume:
        opt.load_state_dict(torch.load(resume))  # DEV114
    model = model.to(device)
    model(torch.rand(8, 3, device=device)).sum().backward()
    opt.step()
""",
}
GOOD = {
    "built before the move": """
opt = torch.optim.Adam(net.parameters())
net.cuda()
net(x).sum().backward()
opt.step()
opt.step()
""",
    "loaded after the move": """
opt = torch.optim.Adam(net.parameters())
net.cuda()
opt.load_state_dict(torch.load("opt.pt", map_location="cpu"))
net(x).sum().backward()
opt.step()
""",
    "loaded again": """
opt = torch.optim.Adagrad(net.parameters())
net.cuda()
opt.load_state_dict(torch.load("opt.pt"))
net(x).sum().backward()
opt.step()
""",
    "no state": """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.load_state_dict(torch.load("opt.pt"))
net(torch.ones(4, 3)).sum().backward()
opt.step()
net.cuda()
net(x).sum().backward()
opt.step()
""",
    "the state is moved": """
opt = torch.optim.Adam(net.parameters())
opt.load_state_dict(torch.load("opt.pt"))
net.cuda()
for state in opt.state.values():
    for key, value in state.items():
        if torch.is_tensor(value):
            state[key] = value.cuda()
net(x).sum().backward()
opt.step()
""",
    "the state is moved by others": """
from tools import move_optimizer

def optimizer_to(opt, device):
    for param in opt.state.values():
        for one in param.values():
            one.data = one.data.to(device)

first, second = torch.optim.Adagrad(net.parameters()), torch.optim.Adagrad(net.parameters())
net.cuda()
move_optimizer(first, "cuda")
optimizer_to(second, "cuda")
net(x).sum().backward()
first.step()
second.step()
""",
    "away and back": """
net.cuda()
opt = torch.optim.Adam(net.parameters())
for _ in range(10):
    net(x).sum().backward()
    opt.step()
    net.cpu()
    torch.save(net.state_dict(), "net.pt")
    net.cuda()
""",
    "a new optimizer": """
opt = torch.optim.Adagrad(net.parameters())
net.cuda()
opt = torch.optim.Adagrad(net.parameters())
net(x).sum().backward()
opt.step()
""",
    "an unknown device": """
from settings import DEVICE

def train(net, momentum):
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=momentum)
    opt.load_state_dict(torch.load("opt.pt"))
    net.cuda()
    opt.step()

opt = torch.optim.Adagrad(net.parameters())
net.to(DEVICE)
net(x.to(DEVICE)).sum().backward()
opt.step()
""",
    "never stepped": """
opt = torch.optim.Adam(net.parameters())
opt.load_state_dict(torch.load("opt.pt"))
net.cuda()
print(net(x))
""",
    "on the host": """
opt = torch.optim.Adagrad(net.parameters())
net.to("cpu")
net(x.cpu()).sum().backward()
opt.step()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(NET + source, "DEV114")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(NET + source, "DEV114")


def test_a_move_in_another_file(tmp_path: Path) -> None:
    (found,) = check(
        """
# file: trainer.py
class Trainer:
    def __init__(self, net, opt, device):
        self.net, self.opt = net.to(device), opt

    def fit(self, x):
        self.net(x).sum().backward()
        self.opt.step()
# file: main.py
from trainer import Trainer
net = nn.Linear(3, 1)
opt = torch.optim.Adagrad(net.parameters(), lr=0.1)  # DEV114
Trainer(net, opt, torch.device("cuda")).fit(torch.rand(2, 3, device="cuda"))
""",
        "DEV114",
        tmp_path,
    )
    assert found.message == (
        "the state of the optimizer is made on cpu by `torch.optim.Adagrad`, but the parameters are moved to cuda"
        " afterwards: its step cannot combine them"
    )
    assert found.trace[0].message.startswith("the parameters created on the host by `nn.Linear`")
    assert [Path(one.region.filename).name for one in found.trace] == ["main.py", "trainer.py", "trainer.py"]
