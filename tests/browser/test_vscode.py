"""The extension for Visual Studio Code in the editor itself: code-server runs it in a browser."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import ROOT

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

EXTENSION = ROOT / "editors" / "vscode"
SETTINGS = '{"security.workspace.trust.enabled": false, "workbench.startupEditor": "none"}'
PROGRAM = """\
import torch

model = torch.nn.Linear(4, 4).to("cuda")
batch = torch.randn(8, 4)
model(batch)
"""
PATIENCE = 90
"""The seconds in which the editor must have shown what a test waits for."""

pytestmark = [
    pytest.mark.skipif(shutil.which("code-server") is None, reason="the editor is not installed: code-server"),
    pytest.mark.skipif(not (EXTENSION / "node_modules").exists(), reason="the extension is not installed: npm ci"),
]


class Editor:
    """The editor with a folder open in the browser."""

    def __init__(self, browser: Chrome, address: str) -> None:
        self._browser = browser
        size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(address)

    def wait_for(self, *texts: str) -> None:
        """Wait until the editor shows some texts, however it breaks and spaces them."""
        end = time.monotonic() + PATIENCE
        shown = ""
        while time.monotonic() < end:
            shown = "".join(self._browser.execute_script("return document.body.innerText").split())
            if all("".join(text.split()) in shown for text in texts):
                return
            time.sleep(0.5)
        pytest.fail(f"{texts} not in {shown}")

    def click(self, text: str) -> None:
        """Click a button with a text."""
        script = "return [...document.querySelectorAll('.monaco-button')].find((one) => one.innerText === arguments[0])"
        self._browser.execute_script(script, text).click()

    def press(self, key: str) -> None:
        """Press a key where the focus is: in the open file."""
        self._browser.switch_to.active_element.send_keys(key)


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], str]]:
    """Starts the editor with the packaged extension on a folder, and returns the address of a file in it."""
    home = tmp_path_factory.mktemp("editor")
    package = home / "devlint.vsix"
    subprocess.run(
        ["npm", "run", "package", "--", "--out", package], cwd=EXTENSION, check=True, capture_output=True, timeout=200
    )
    (home / "data" / "User").mkdir(parents=True)
    (home / "data" / "User" / "settings.json").write_text(SETTINGS)
    places = ("--user-data-dir", home / "data", "--extensions-dir", home / "extensions", "--config", home / "config")
    base = [shutil.which("code-server"), *places]
    subprocess.run([*base, "--install-extension", package], check=True, capture_output=True, timeout=100)
    started: list[subprocess.Popen[bytes]] = []

    def start(file: Path) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            host = f"127.0.0.1:{free.getsockname()[1]}"
        command = [*base, "--auth", "none", "--bind-addr", host, "--disable-telemetry", "--disable-update-check"]
        path = (place for place in os.environ["PATH"].split(os.pathsep) if not Path(place, "devlint").exists())
        environment = {**os.environ, "PATH": os.pathsep.join(path)}
        output = subprocess.DEVNULL
        started.append(subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True))
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", int(host.rpartition(":")[2]))) == 0:
                    break
            time.sleep(0.2)
        return f'http://{host}/?folder={file.parent}&payload=[["openFile","vscode-remote://{host}{file}"]]'

    yield start
    for process in started:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A file in a folder."""
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    return file


def test_findings_and_hints_are_shown(browser: Chrome, serve: Callable[[Path], str], program: Path) -> None:
    scripts = program.parent / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "devlint").write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m devlint "$@"\n')
    (scripts / "devlint").chmod(0o755)
    editor = Editor(browser, serve(program))
    editor.wait_for("model: cuda float32 =", "batch: cpu float32 =")
    editor.press("\ue038")  # F8 goes to the next finding and opens it
    editor.wait_for("`model` is on cuda but its input `batch` is on cpu", "DEV102", "created on the host")


def test_who_has_no_devlint_is_told_how_to_install_it(
    browser: Chrome, serve: Callable[[Path], str], program: Path
) -> None:
    editor = Editor(browser, serve(program))
    editor.wait_for("devlint could not be started by: devlint server", "How to install")
    editor.click("How to install")
    editor.wait_for("Find device bugs while you write", "Install devlint", "Start the server again")
