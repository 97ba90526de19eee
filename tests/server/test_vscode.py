from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping

import pytest

from devlint.server.preferences import Preferences

from .editors_guide import GUIDE

EXTENSION = GUIDE.parents[1] / "editors" / "vscode"
ITS_OWN = {"command"}
"""Settings that the extension does not pass on."""


class Asked(Mapping[str, object]):
    """Settings that remember what was asked for."""

    def __init__(self, given: dict[str, object]) -> None:
        self.given = given
        self.keys_asked: set[str] = set()

    def get(self, key: str, default: object = None) -> object:
        self.keys_asked.add(key)
        return self.given.get(key, default)

    def __getitem__(self, key: str) -> object:
        return self.given[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def _properties() -> dict[str, dict[str, object]]:
    package = json.loads((EXTENSION / "package.json").read_text())
    found = package["contributes"]["configuration"]["properties"]
    return {name.removeprefix("devlint."): one for name, one in found.items()}


def test_extension_server_and_guide_know_the_same_settings():
    asked = Asked({})
    Preferences.read(asked)
    properties = _properties()
    table = GUIDE.read_text().partition("| Setting |")[2].partition("\n\n")[0]
    told = [name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert asked.keys_asked - {"devlint"} == properties.keys() - ITS_OWN
    assert {*told} == properties.keys() - ITS_OWN


def test_the_server_takes_what_the_extension_offers():
    for name, one in _properties().items():
        for value in [one["default"], *one.get("enum", ())]:
            assert Preferences.read({name: value}).problems == ()
    defaults = {name: one["default"] for name, one in _properties().items()}
    assert Preferences.read(defaults) == Preferences()


@pytest.mark.skipif(
    shutil.which("npm") is None or not (EXTENSION / "node_modules").exists(), reason="the extension is not installed"
)
def test_the_extension():
    for script in ("lint", "test"):
        done = subprocess.run(
            ["npm", "run", script], cwd=EXTENSION, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
