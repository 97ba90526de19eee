from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

SERVER = [sys.executable, "-m", "devlint", "server"]


def test_one_way_to_speak():
    done = subprocess.run([*SERVER, "--stdio", "--tcp"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "--stdio and --tcp exclude each other" in done.stderr


def test_over_a_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*SERVER, "--tcp", "--port", str(port)])
    try:
        with _connected(port) as connection:
            asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
            connection.sendall(f"Content-Length: {len(asked)}\r\n\r\n{asked}".encode())
            with connection.makefile("rb") as stream:
                headers = list(iter(stream.readline, b"\r\n"))
                length = next(int(line.split(b":")[1]) for line in headers if line.startswith(b"Content-Length"))
                answer = json.loads(stream.read(length))
        assert answer["result"]["serverInfo"]["name"] == "devlint"
    finally:
        process.kill()
        process.wait()


def _connected(port: int) -> socket.socket:
    """A connection to a server that may still have to start."""
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except OSError:
            time.sleep(0.1)
    raise AssertionError("nobody listens")


def test_the_client_in_the_guide_prints_what_the_server_finds(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "editors.md"
    (client,) = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (tmp_path / "client.py").write_text(client, encoding="utf-8")
    (tmp_path / "wrong.py").write_text("import torch\n\nx = torch.zeros(3, device='cuda')\nx + torch.ones(3)\n")
    (tmp_path / "right.py").write_text("import torch\n\nx = torch.zeros(3, device='cuda')\nx + torch.ones_like(x)\n")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    said = {
        name: subprocess.run(
            [sys.executable, "client.py", name],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        for name in ("wrong.py", "right.py")
    }
    assert [done.returncode for done in said.values()] == [0, 0], said
    assert said["wrong.py"].stdout.startswith("4 DEV101 ")
    assert said["right.py"].stdout == ""
