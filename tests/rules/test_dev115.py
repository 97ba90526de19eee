"""Caches whose key does not hold the device."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "lru_cache": """
import functools

@functools.lru_cache(maxsize=None)
def window(n):
    return torch.hann_window(n)

class Spectrum(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * window(512)  # DEV115
""",
    "cache": """
from functools import cache

@cache
def ramp(n):
    return torch.arange(n)

print(torch.rand(8).cuda() * ramp(8))  # DEV115
""",
    "a dict of the module": """
_masks = {}

def mask(n):
    if n not in _masks:
        _masks[n] = torch.ones(n, n)  # DEV115
    return _masks[n]

def attend(x):
    return x * mask(8)

attend(torch.rand(8, 8).cuda())
""",
    "a default argument": """
def smooth(x, kernel=torch.ones(3)):  # DEV115
    return x * kernel

smooth(torch.rand(3).cuda())
""",
}

GOOD = {
    "device in the key": """
from functools import lru_cache

@lru_cache
def window(n, device):
    return torch.hann_window(n, device=device)

x = torch.rand(512, device="cuda")
print(x * window(512, x.device))

_masks = {}

def mask(n, device):
    if (n, device) not in _masks:
        _masks[n, device] = torch.ones(n, device=device)
    return _masks[n, device]

print(x * mask(512, x.device))
""",
    "moved at use": """
from functools import lru_cache

@lru_cache
def window(n):
    return torch.hann_window(n)

def smooth(x: torch.Tensor):
    return x * window(512).to(x.device)

MEAN = torch.tensor([0.485, 0.456, 0.406])

def normalize(image: torch.Tensor):
    return image.cuda() - MEAN.to(image.device).cuda()
""",
    "device compared": """
_mask = None

def mask(x: torch.Tensor):
    global _mask
    if _mask is None or _mask.device != x.device:
        _mask = torch.ones(8, device=x.device)
    return x * _mask
""",
    "used on the host": """
from functools import lru_cache

@lru_cache
def window(n):
    return torch.hann_window(n)

print(torch.rand(512) * window(512))
""",
    "0-dim": """
def scale(x, factor=torch.tensor(2.0)):
    return x * factor

scale(torch.rand(3).cuda())
""",
    "not a tensor": """
from functools import lru_cache

@lru_cache
def size(n):
    return n * 2

print(torch.rand(3).cuda() * size(2))
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_it_is_a_warning_that_names_the_cache() -> None:
    (finding,) = check(BAD["a dict of the module"], "DEV1")
    assert finding.severity.value == "warning"
    assert finding.message == (
        "a tensor on cpu is kept in `_masks` under a key without the device:"
        " it cannot be combined with `x` on cuda in `*`"
    )


def test_the_help_moves_what_the_cache_returns() -> None:
    (finding,) = check(
        """
_MASKS = {}

def mask(size):
    if size not in _MASKS:
        _MASKS[size] = torch.ones(size)  # DEV115
    return _MASKS[size]

scores = torch.rand(8, device="cuda")
scores * mask(8)
""",
        "DEV1",
    )
    assert finding.help is not None and finding.help.endswith("or move it when used: `mask(8).to(scores.device)`")
