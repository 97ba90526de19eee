"""The configurations in the guide for editors, which the tests copy into the editors."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "editors.md"

PROGRAM = """import torch

data = torch.zeros(3, device="cuda")


def move(batch: torch.Tensor):
    batch.to("cuda")
    return batch
"""

MENDED = PROGRAM.replace("    batch.to", "    batch = batch.to")


def configurations(editor: str, language: str) -> list[str]:
    """Return the code blocks in a language below an editor's heading."""
    section = GUIDE.read_text().partition(f"\n## {editor}\n")[2].partition("\n## ")[0]
    blocks = section.split("```")[1::2]
    found = [block.removeprefix(f"{language}\n") for block in blocks if block.startswith(f"{language}\n")]
    assert found, f"the guide has nothing in {language} for {editor}"
    return found


def surroundings(home: Path) -> dict[str, str]:
    """Return environment variables for the `devlint` under test, without the user's own configuration."""
    scripts = sysconfig.get_path("scripts")
    return {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "LC_ALL": "C.UTF-8",
    }
