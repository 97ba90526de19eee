"""Small programs before and after their port, told as pairs of texts."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.linter.discovery import DiscoveredFile
from devlint.linter.rule_listing import all_rule_metadata
from devlint.port.cuda_uses import CudaUse, Outcome
from devlint.port.port_context import PortOptions
from devlint.port.program_port import PortedProgram, port_program

PAIR = re.compile(r"^# becomes\n", re.MULTILINE)
ACCELERATOR = 'torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")'
"""The device that a port makes; in the pairs, `ACCELERATOR` stands for it, and `# the device` for its assignment."""
CHOSEN = "torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else"
"""The choice of a device by its type; in the pairs, `CHOSEN` stands for it."""


def port_files(
    folder: Path, files: Mapping[str, str], options: PortOptions | None = None, *, checked: bool = False
) -> PortedProgram:
    """Write files into a folder and port them."""
    settings = Resolver(list(all_rule_metadata()), Options(), cwd=folder, isolated=True).settings_for(folder)
    found = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        found.append(DiscoveredFile(path, name, settings))
    return port_program(found, options or PortOptions(), checked=checked)


def check_port(folder: Path, pair: str, options: PortOptions | None = None) -> list[CudaUse]:
    """Assert that the first part of a text, ported, is the second, and that porting it again changes nothing.

    Without a second part, nothing is to change. Returns the uses that are left.
    """
    text = textwrap.dedent(pair).lstrip("\n").replace("# the device", "device = ACCELERATOR")
    text = text.replace("ACCELERATOR", ACCELERATOR).replace("CHOSEN", CHOSEN)
    before, *rest = PAIR.split(text)
    after = rest[0] if rest else before
    done = port_files(folder, {"a.py": before}, options)
    got = done.after["a.py"].text
    assert got == after, got
    ast.parse(got)
    again = port_files(folder, {"a.py": got}, options)
    assert not again.changed, again.after["a.py"].text
    return [one for one in done.uses if one.outcome is not Outcome.PORTED]


def reasons(uses: list[CudaUse]) -> list[tuple[str, str]]:
    """Return the text of each use that is left, with what became of it."""
    return [(one.text, one.outcome.value) for one in uses]
