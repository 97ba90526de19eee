"""Models of functions that never return, because they end the program or the test."""

from __future__ import annotations

from devlint.domain.value import NONE, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call(
    "sys.exit",
    "os._exit",
    "os.abort",
    "builtins.exit",
    "builtins.quit",
    "pytest.skip",
    "pytest.fail",
    "pytest.xfail",
    "pytest.exit",
)
def never_returns(frame: Frame, call: LibraryCall) -> Value:
    """Model `sys.exit()` and the like: the path ends here, as after `raise`."""
    frame.fail(chosen=True)
    return NONE
