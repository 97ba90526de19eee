"""The pytest plugin behind `pytest --devlint`: its options, and the start of the companion if they ask for it.

Without the option the plugin does nothing and does not import torch.
"""

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
_COMPANION = "devlint-companion"
"""The name under which the plugin object is registered that emulates and records."""


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


def pytest_addoption(parser: pytest.Parser) -> None:
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


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start emulating and recording before pytest imports the first `conftest.py`, if `--devlint` asks for it."""
    _start(early_config, early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    """Start emulating and recording if this plugin was loaded too late for the first `conftest.py`."""
    if not config.pluginmanager.has_plugin(_COMPANION):
        _start(config, config.option)


def _start(config: pytest.Config, options: argparse.Namespace) -> None:
    """Register the plugin object that emulates and records, if pytest was started with `--devlint`."""
    if options.devlint is None:
        return
    # Imported here because it imports torch, an optional dependency, which is not needed without `--devlint`.
    from devlint.runtime.pytest_companion import Companion

    if options.devlint_baseline is None and (options.devlint_update_baseline or options.devlint_exit_on == "new"):
        raise pytest.UsageError("--devlint-update-baseline and --devlint-exit-on=new need --devlint-baseline")
    mode, moves = options.devlint, options.devlint.startswith(MOVE)
    companion = Companion(mode.replace(MOVE, EMULATED), config.rootpath, moves=moves)
    if not options.devlint_no_lint:
        companion.read_configuration()
    config.add_cleanup(companion.stop)
    companion.start()
    config.pluginmanager.register(companion, _COMPANION)
