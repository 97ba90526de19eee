"""The options of `pytest --devlint` on pytest's command line, and the names that users write. It needs no torch."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from devlint.runtime.backends import BACKENDS, EMULATED, EMULATED_OPTIONS

MOVE = "move"
"""The mode that also places what the tests make on the emulated device; `move:xpu` and the like name another one."""
MODES = (*EMULATED_OPTIONS, MOVE, *(f"{MOVE}:{kind}" for kind in BACKENDS), "cuda")
"""The values of `--devlint`."""
MARKER = "devlint_on_host"
"""The mark of tests for which nothing is placed on the accelerator."""


class _ModeAction(argparse.Action):
    """Action that stores the value of `--devlint=VALUE`, which argparse takes for an option without a value.

    So `pytest --devlint PATH` leaves the path alone.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the part of the option after the equals sign; without one, the emulated CUDA device is asked for."""
        setattr(namespace, self.dest, (option_string or "").partition("=")[2] or EMULATED)


def add_options(parser: pytest.Parser) -> None:
    """Add devlint's options to pytest's command line."""
    group = parser.getgroup("devlint")
    group.addoption(
        "--devlint",
        *(f"--devlint={mode}" for mode in MODES),
        action=_ModeAction,
        nargs=0,
        dest="devlint",
        default=None,
        help="run the tests on an emulated accelerator (or watch them on the real one), and report; "
        "=move places what the tests make there",
    )
    group.addoption(
        "--devlint-report",
        type=Path,
        metavar="FILE",
        help="write the report there too: as JSON or HTML if the file's name ends so, else as text",
    )
    group.addoption(
        "--devlint-export-cases",
        type=Path,
        metavar="DIR",
        help="write each error that no static finding predicted there, as a small program and what was seen",
    )
    group.addoption(
        "--devlint-baseline",
        type=Path,
        metavar="FILE",
        help="the errors that are known to be seen, for --devlint-exit-on",
    )
    group.addoption(
        "--devlint-update-baseline", action="store_true", help="write the errors that were seen to --devlint-baseline"
    )
    group.addoption(
        "--devlint-exit-on",
        choices=("any", "new"),
        help="exit with 1 if an error was seen, even one that a test expects; new: one that is not in the baseline",
    )
    group.addoption("--devlint-no-lint", action="store_true", help="record only, without the static findings")
