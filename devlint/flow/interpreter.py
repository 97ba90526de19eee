"""The complete interpreter: every handler of syntax nodes and every model of library calls, and a frame that uses them."""

from __future__ import annotations

import importlib
import pkgutil

from devlint.flow import calls, language, library
from devlint.flow.calls.dispatch import call_value
from devlint.flow.calls.functions import call_function
from devlint.flow.language.attributes import get_attribute
from devlint.flow.language.iteration import iterate
from devlint.flow.library.registry import invoke
from devlint.flow.path.run import Run

for _package in (calls, language, library):
    # Handlers and models register themselves when their module is imported.
    for _module in pkgutil.iter_modules(_package.__path__):
        importlib.import_module(f"{_package.__name__}.{_module.name}")


class Interpreter(Run):
    """A frame that can do everything: the gateways that those below only know by name.

    They are assigned, not forwarded: a call through one costs no more than any method's.
    """

    call = call_value
    call_function = call_function
    get_attribute = get_attribute
    iterate = iterate
    invoke = invoke
