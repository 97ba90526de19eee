"""A static analyser that finds device-placement and dtype bugs in PyTorch code without running it."""

from __future__ import annotations

import os.path
from importlib import import_module

from devlint.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    # `typing`, like `pathlib`, takes longer to import than all else that `devlint --version` needs.
    from typing import Any

    from devlint.api import Result, check_paths, check_source
    from devlint.config.config_error import ConfigError
    from devlint.diagnostic import (
        Applicability,
        AssumptionKind,
        AssumptionNote,
        Confidence,
        Diagnostic,
        Edit,
        Fix,
        Note,
        Position,
        Region,
        Severity,
    )
    from devlint.interpreter.state.failures import InternalError

__all__ = [
    "Applicability",
    "AssumptionKind",
    "AssumptionNote",
    "Confidence",
    "ConfigError",
    "Diagnostic",
    "Edit",
    "Fix",
    "InternalError",
    "Note",
    "Position",
    "Region",
    "Result",
    "Severity",
    "__version__",
    "check_paths",
    "check_source",
]

# In a checkout, `rules/` is next to this package; in an installation it is inside, as `devlint.rules`.
# The checkout is therefore searched for subpackages too, so that `python -m devlint` works from its root.
_package = os.path.dirname(__file__)  # noqa: PTH120
_checkout = os.path.dirname(_package)  # noqa: PTH120
if os.path.isdir(f"{_checkout}/rules") and not os.path.exists(f"{_package}/rules"):  # noqa: PTH110, PTH112
    __path__.append(_checkout)
del _package, _checkout

_HOMES = {
    "check_paths": "api",
    "check_source": "api",
    "Result": "api",
    "ConfigError": "config.config_error",
    "InternalError": "interpreter.state.failures",
}
"""The modules of public names that `devlint.diagnostic` does not define."""


def __getattr__(name: str) -> Any:
    """Import and return a public name of the package `devlint` when a program first uses that name.

    Importing all of them at once would make `devlint --help` slow.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"devlint.{_HOMES.get(name, 'diagnostic')}"), name)


def load_ipython_extension(shell: Any) -> None:
    """Add the magics `%%devlint` and `%%devlint_run` to an IPython session, which asks by `%load_ext devlint`."""
    import_module("devlint.notebook.magics").load_ipython_extension(shell)
