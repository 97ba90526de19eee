from __future__ import annotations

import json
import socket
import subprocess
import sys
import time

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
