"""The pytest plugin behind `pytest --devlint`: its options, and the start of the companion if they ask for it.

Without the option the plugin does nothing and does not import torch.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

import pytest

from devlint.runtime.backends import EMULATED
from devlint.runtime.pytest_options import MARKER, MOVE, add_options

_COMPANION = "devlint-companion"
"""The name under which the plugin object is registered that emulates and records."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add devlint's options to pytest's command line."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start emulating and recording before pytest imports the first `conftest.py`, if `--devlint` asks for it."""
    _start(early_config, early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    """Make devlint's mark known, and start if this plugin was loaded too late for the first `conftest.py`."""
    config.addinivalue_line("markers", f"{MARKER}: under --devlint=move, leave what this test makes on the host")
    if not config.pluginmanager.has_plugin(_COMPANION):
        _start(config, config.option)


def _start(config: pytest.Config, options: argparse.Namespace) -> None:
    """Register the plugin object that emulates and records, if pytest was started with `--devlint`."""
    if options.devlint is None:
        return
    if find_spec("torch") is None:
        raise pytest.UsageError("pytest --devlint needs torch: pip install 'devlint[runtime]'")
    # Imported here because it imports torch, an optional dependency, which is not needed without `--devlint`.
    from devlint.runtime.pytest_companion import Companion

    if options.devlint_baseline is None and (options.devlint_update_baseline or options.devlint_exit_on == "new"):
        raise pytest.UsageError("--devlint-update-baseline and --devlint-exit-on=new need --devlint-baseline")
    mode, moves = options.devlint, options.devlint.startswith(MOVE)
    companion = Companion(mode.replace(MOVE, EMULATED), config.rootpath, moves=moves)
    if not options.devlint_no_lint:
        companion.read_configuration()
    if options.devlint_exit_on == "new" and not options.devlint_update_baseline:
        companion.validate_baseline(options.devlint_baseline)
    config.add_cleanup(companion.stop)
    companion.start()
    config.pluginmanager.register(companion, _COMPANION)
