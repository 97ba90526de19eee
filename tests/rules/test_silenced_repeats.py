"""One finding for each bug: a comment at one of its places says nothing of the others."""

from __future__ import annotations

import pytest

from .programs import check

SILENCED = """
x, y = torch.ones(3).cuda(), torch.ones(3)
try:
    z = x + y  # devlint: ignore[DEV101] -- tried, and done below if it fails
except RuntimeError:
    z = None
"""

PROGRAMS = {
    "another place": f"{SILENCED}print(x * y)  # DEV101\n",
    "two other places": f"{SILENCED}print(x * y)  # DEV101\nprint(x - y)\n",
    "no other place": f"{SILENCED}print(x * y.cuda())\n",
    "all places": f"{SILENCED}print(x * y)  # devlint: ignore[DEV101] -- this one, too\n",
    "parts of a module, of which the second fails only if the first does": """
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
net(torch.rand(3, 3, device="cuda"))  # devlint: ignore[DEV102] -- moved by who imports it
""",
    "no comment": """
x, y = torch.ones(3).cuda(), torch.ones(3)
print(x + y)  # DEV101
print(x * y)
""",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_the_next_place_is_reported(source: str) -> None:
    check(source, "DEV101")
