"""The complete interpreter: a frame class with all its gateways, and the registration of all handlers and models.

Gateways are frame methods that modules above the frame's own module implement.
"""

from __future__ import annotations

import importlib
import pkgutil

from devlint.interpreter import calls, language, library
from devlint.interpreter.calls.dispatch import call_value
from devlint.interpreter.calls.functions import call_function
from devlint.interpreter.language.attributes import get_attribute
from devlint.interpreter.language.iteration_protocol import iterate
from devlint.interpreter.library.invocation import invoke
from devlint.interpreter.state.frame import Frame

for _package in (calls, language, library):
    # Handlers and models register themselves when their module is imported.
    for _module in pkgutil.iter_modules(_package.__path__):
        importlib.import_module(f"{_package.__name__}.{_module.name}")


class Interpreter(Frame):
    """A frame with all its gateways: the methods (`call`, `iterate`, ...) that `Frame` declares without implementing.

    `Frame` cannot import their implementations, because these import `Frame`. The implementing functions are assigned
    as methods, not forwarded to, so a call through a gateway costs no more than any method call.
    """

    call = call_value
    call_function = call_function
    get_attribute = get_attribute
    iterate = iterate
    invoke = invoke
