"""Random generators on another device than what is drawn from them."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "factories": """
g = torch.Generator()
torch.randn(3, device="cuda", generator=g)  # DEV109
torch.randperm(9, generator=g, device="cuda")  # DEV109
torch.randint(0, 9, (3,), device=torch.device("cuda", 0), generator=torch.Generator("cpu"))  # DEV109
torch.rand(3, generator=torch.Generator(device="cuda"))  # DEV109
""",
    "seeded at once": """
g = torch.Generator().manual_seed(0)
torch.randn(3, device="cuda", generator=g)  # DEV109
""",
    "filled and drawn from": """
g = torch.Generator()
x = torch.rand(3).cuda()
x.normal_(generator=g)  # DEV109
x.uniform_(0, 1, generator=g)  # DEV109
torch.bernoulli(x, generator=g)  # DEV109
torch.multinomial(x, 1, generator=g)  # DEV109
torch.normal(x, x, generator=g)  # DEV109
""",
    "where there is an accelerator": """
device = "cuda" if torch.cuda.is_available() else "cpu"
g = torch.Generator().manual_seed(1)
noise = torch.randn(3, device=device, generator=g)  # DEV109
""",
    "the caller's device": """
def noise(shape, device: torch.device, seed: int):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(shape, device=device, generator=g)  # DEV109
""",
    "the caller's device, if it passes one": """
def noise(shape, device=None):
    device = torch.device("cpu") if device is None else torch.device(device)
    g = torch.Generator().manual_seed(0)
    return torch.randn(shape, device=device, generator=g).to(device=device)  # DEV109
""",
    "a device that is not the host": """
def noise(shape, device: torch.device):
    g = torch.Generator()
    if device.type != "cpu":
        return torch.randn(shape, device=device, generator=g)  # DEV109
    return torch.randn(shape, generator=g)
""",
    "a default device": """
torch.set_default_device("cuda")
g = torch.Generator()
torch.randn(3, generator=g)  # DEV109
""",
    "loaders and samplers": """
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, random_split

data = TensorDataset(torch.rand(8, 3))
g = torch.Generator(device="cuda")
a, b = random_split(data, [4, 4], generator=g)  # DEV109
loader = DataLoader(data, shuffle=True, generator=g)  # DEV109
order = RandomSampler(data, generator=g)  # DEV109
""",
}

GOOD = {
    "on the same device": """
g, h = torch.Generator(), torch.Generator(device="cuda").manual_seed(0)
torch.randn(3, generator=g), torch.randn(3, device="cuda", generator=h), torch.randn(3, device="cuda:0", generator=h)
torch.rand(3, device="cuda", generator=None), torch.rand(3, generator=g).cuda()
torch.rand(3).cuda().normal_(generator=h), torch.zeros(3).uniform_(generator=g)
""",
    "made for the device": """
def noise(shape, device: torch.device, x: torch.Tensor):
    g = torch.Generator(device=device)
    h = torch.Generator(x.device).manual_seed(0)
    return torch.randn(shape, device=device, generator=g) + torch.rand(shape, device=x.device, generator=h)

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.randn(3, device=device, generator=torch.Generator(device))
""",
    "drawn on the host, then moved": """
def noise(shape, device: torch.device):
    g = torch.Generator().manual_seed(0)
    return torch.randn(shape, generator=g).to(device)
""",
    "the device is asked for": """
def noise(shape, device: torch.device):
    if device.type == "cpu":
        return torch.randn(shape, device=device, generator=torch.Generator())
    return torch.randn(shape, device=device)
""",
    "an unknown generator or device": """
from settings import DEVICE, generator

def noise(shape, g, device=None):
    torch.randn(shape, device="cuda", generator=g)
    torch.randn(shape, device="cuda", generator=generator)
    return torch.randn(shape, device=DEVICE, generator=torch.Generator())
""",
    "loaders and samplers": """
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, random_split

data = TensorDataset(torch.rand(8, 3))
g = torch.Generator().manual_seed(0)
a, b = random_split(data, [4, 4], g)
loader = DataLoader(data, shuffle=True, generator=g)
order = RandomSampler(data, generator=g)
""",
    "a loader under a default device": """
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_device("cuda")
loader = DataLoader(TensorDataset(torch.rand(8, 3)), shuffle=True, generator=torch.Generator(device="cuda"))
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV109")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV109")


def test_the_finding_names_both_devices() -> None:
    (found,) = check("g = torch.Generator()\nx = torch.rand(3, device='cuda', generator=g)  # DEV109\n", "DEV109")
    assert found.message == "`g` is a generator on cpu, but `torch.rand` draws on cuda"


def test_the_help_names_the_device_as_the_program_does() -> None:
    program = """
device = "cuda" if torch.cuda.is_available() else "cpu"
generator = torch.Generator().manual_seed(0)
x = torch.randn(3, device={device}, generator=generator)  # DEV109
"""
    (finding,) = check(program.format(device="device"), "DEV109")
    advice = "make the generator on the same device: `torch.Generator(device={})`, or draw on cpu and move the numbers"
    assert finding.help == advice.format("device")
    (finding,) = check(program.format(device="'cuda'"), "DEV109")
    assert finding.help == advice.format("'cuda'")
