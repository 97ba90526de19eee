"""Tests of the command that messages name for installing an extra."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devlint import installation
from devlint.installation import install_command

ROOT = Path(__file__).parents[2]


def test_a_checkout_is_installed_from_where_it_is():
    assert install_command("runtime") == f"pip install -e '{ROOT}[runtime]'"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ({"url": "file:///home/me/my%20devlint", "dir_info": {}}, "pip install '/home/me/my devlint[lsp]'"),
        ({"url": "https://host/devlint.whl", "archive_info": {}}, "pip install 'devlint[lsp]'"),
        (None, "pip install 'devlint[lsp]'"),
    ],
)
def test_an_installed_devlint_is_installed_from_where_it_came(tmp_path, monkeypatch, origin, command):
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return json.dumps(origin) if origin is not None else None

    monkeypatch.setattr(installation, "__file__", str(tmp_path / "devlint" / "installation.py"))
    monkeypatch.setattr(installation, "distribution", lambda name: Installed())
    assert install_command("lsp") == command
