"""How to install one of devlint's optional extras from where this devlint came, for messages to the user."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname


def install_command(extra: str) -> str:
    """Return the command that installs devlint again with an optional extra, such as `pip install 'devlint[lsp]'`.

    A devlint that came from a checkout is installed from there, because a package index may not have it.
    """
    checkout = _checkout()
    if checkout is None:
        return f"pip install 'devlint[{extra}]'"
    folder, editable = checkout
    return f"pip install {'-e ' if editable else ''}'{folder}[{extra}]'"


def _checkout() -> tuple[str, bool] | None:
    """Return the folder of the checkout from which devlint runs or was installed, and whether it runs from there.

    Returns None if devlint came from elsewhere, such as a package index.
    """
    above = Path(__file__).resolve().parents[1]
    if (above / "pyproject.toml").is_file():
        return str(above), True
    try:
        origin = json.loads(distribution("devlint").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    url = urlsplit(origin.get("url", ""))
    return (url2pathname(url.path), False) if url.scheme == "file" and "dir_info" in origin else None
