from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from zipfile import ZipFile

import pytest

from devlint import check_paths
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


def test_the_walkthrough_tells_the_truth(tmp_path):
    package = json.loads((EXTENSION / "package.json").read_text())
    (walkthrough,) = package["contributes"]["walkthroughs"]
    pages = {step["id"]: EXTENSION / step["media"]["markdown"] for step in walkthrough["steps"]}
    assert all(page.is_file() for page in pages.values())
    code = re.findall(r"```python\n(.*?)```", pages["finding"].read_text(), re.DOTALL)
    (tmp_path / "a.py").write_text(code[0])
    (found,) = check_paths([tmp_path / "a.py"]).diagnostics
    assert found.code in pages["finding"].read_text() and found.region.start.row == 5
    (program,) = re.findall(r"openWalkthrough\", \"(.*?)\"", (EXTENSION / "src" / "extension.ts").read_text())
    assert program == f"{package['publisher']}.{package['name']}#{walkthrough['id']}"


def test_commands_that_links_start_are_known():
    text = (EXTENSION / "package.json").read_text()
    known = {one["command"] for one in json.loads(text)["contributes"]["commands"]}
    assert set(re.findall(r"command:(devlint\.\w+)", text)) <= known
    source = (EXTENSION / "src" / "extension.ts").read_text()
    assert {*re.findall(r'registerCommand\("(.*?)"', source)} == known


def test_the_lock_file_names_no_address():
    lock = json.loads((EXTENSION / "package-lock.json").read_text())
    resolved = [one["resolved"] for one in lock["packages"].values() if "resolved" in one]
    assert resolved == []


def _run(script: str, *words: str) -> None:
    command = ["npm", "run", script, "--", *words]
    done = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    shutil.which("npm") is None or not (EXTENSION / "node_modules").exists(), reason="the extension is not installed"
)
def test_the_extension_and_its_package(tmp_path):
    _run("lint")
    _run("test")
    _run("package", "--out", str(tmp_path / "devlint.vsix"))
    with ZipFile(tmp_path / "devlint.vsix") as package:
        files = {name.removeprefix("extension/"): package.getinfo(name).file_size for name in package.namelist()}
    described = {"[Content_Types].xml", "extension.vsixmanifest", "package.json"}
    pages = {f"walkthrough/{name}.md" for name in ("finding", "install", "placement", "settings")}
    assert {name.lower() for name in files} == {
        *(name.lower() for name in described),
        *pages,
        "license.txt",
        "readme.md",
        "images/icon.png",
        "out/extension.js",
    }
    assert files["out/extension.js"] < 600_000
