"""Models of functions that torch and torchvision have removed: a call raises, so that code behind it does not run."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import UNKNOWN, Tensor, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

_DECOMPOSITIONS: Final = tuple(
    "btrifact btrisolve eig gels gesv irfft potrf potri potrs pstrf rfft symeig trtrs".split()
)
"""The functions of linear algebra and Fourier transforms that tensors had as methods too."""


@models_call(
    *(
        f"torch.{name}"
        for name in (
            *_DECOMPOSITIONS,
            *"btrifact_with_info btriunpack fft ifft is_deterministic lstsq matrix_rank multinomial_alias"
            " set_deterministic solve jit.get_trace_graph utils.data.dataloader.DataLoaderIter"
            " utils.data.dataloader._DataLoaderIter distributed.all_gather_multigpu distributed.all_reduce_multigpu"
            " distributed.broadcast_multigpu distributed.reduce_multigpu distributed.reduce_scatter_multigpu".split(),
        )
    ),
    *(
        f"torchvision.transforms.{module}{name}"
        for module in ("", "transforms.")
        for name in ("RandomSizedCrop", "Scale")
    ),
)
def removed(frame: Frame, call: LibraryCall) -> Value:
    """Model what torch 2 or torchvision 0.12 has no more, or only to raise; `torch.fft` is a module there."""
    frame.fail()
    return UNKNOWN


@models_call(*(f"Tensor.{name}" for name in _DECOMPOSITIONS))
def removed_method(frame: Frame, call: LibraryCall) -> Value:
    """Model the methods of tensors that torch 2 has no more, or only to raise; other objects may have them."""
    if isinstance(call.receiver, Tensor):
        frame.fail()
    return UNKNOWN
