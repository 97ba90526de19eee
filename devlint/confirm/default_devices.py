"""Where a project lets torch make new tensors on the accelerator, so that a factory without a device is right there."""

from __future__ import annotations

import ast

from devlint.confirm.source_files import ProjectSources, last_name
from devlint.interpreter.state.torch_defaults import SETTERS
from devlint.runtime.report_wording import is_test_file

OF_FACTORIES = frozenset({"DEV103", "DEV105"})
"""The rules about tensors that are on the host since the call that makes them names no device."""


def default_device_setter(sources: ProjectSources) -> str | None:
    """Return the file and line where a project, its tests left out, sets the default device; None if it does not.

    A call with the host, or with a tensor type of the host, does not count.
    """
    for path in sources.files:
        name = path.relative_to(sources.root).as_posix()
        if is_test_file(name) or not any(one in path.read_text("utf-8", "replace") for one in SETTERS):
            continue
        tree = sources.tree(path)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Call) and last_name(node.func) in SETTERS and not _is_host(node):
                return f"{name}, line {node.lineno}"
    return None


def _is_host(call: ast.Call) -> bool:
    """Return whether a setter is called with the host's device or one of its tensor types, as far as its text tells."""
    given = ast.unparse(call.args[0]).strip("'\"") if call.args else ""
    if last_name(call.func) == "set_default_device":
        return given.startswith("cpu") or given in ("None", "torch.device('cpu')")
    return given.startswith(("torch.", "th.")) and ".cuda." not in given
