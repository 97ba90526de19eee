"""Writes ``devlint/semantics/torch.json`` from the installed torch."""

from __future__ import annotations

import logging
from pathlib import Path

import torch

from devlint.runtime.derive import assemble, modules, names


def main() -> None:
    """Derive every row and write the table."""
    torch.set_num_threads(1)
    logging.getLogger("torch._subclasses").setLevel(logging.CRITICAL)
    target = Path(__file__).parents[2] / "semantics" / "torch.json"
    aliases = names.aliases() | modules.aliases() | assemble.overlay()["aliases"]
    target.write_text(assemble.render(assemble.rows_of(), aliases))


if __name__ == "__main__":
    main()
