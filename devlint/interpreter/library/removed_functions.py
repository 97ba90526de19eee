"""Models of functions that torch has removed: a call raises, so that code behind it does not run."""

from __future__ import annotations

from devlint.domain.value import UNKNOWN, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call(
    *(
        f"torch.{name}"
        for name in "btrifact btrisolve eig gels gesv ifft irfft lstsq matrix_rank multinomial_alias potrf potri potrs"
        " pstrf rfft solve symeig trtrs".split()
    ),
    "torch.fft",
)
def removed(frame: Frame, call: LibraryCall) -> Value:
    """Model what torch 2 has no more, or only to raise; `torch.fft` is a module there, and no function."""
    frame.fail()
    return UNKNOWN
