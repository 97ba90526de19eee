"""Emulation of device checks that PyTorch makes in composite functions, before the dispatcher sees an operator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.error_reports import continues_after, report_operator_error
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import HOST, Placement, label_tensor, placement_of
from devlint.runtime.tensor_arguments import tensors_in

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

Check = Callable[..., None]


def _check_rnn(*args: Any, **kwargs: Any) -> None:
    """Raise RuntimeError if input, hidden state and weights of a recurrent layer differ in device or dtype.

    The dtype is checked on accelerators only. The arguments are those of `torch.lstm` and similar functions; a packed
    input has its batch sizes as the second.
    """
    packed = (
        isinstance(args[1], torch.Tensor)
        and isinstance(args[2], list | tuple | torch.Tensor)
        and (isinstance(args[3], list))
    )
    hidden, weights = (args[2], args[3]) if packed else (args[1], args[2])
    here = placement_of(args[0])
    for name, tensors in (("hidden", tensors_in((hidden,))), ("parameter", tensors_in(weights))):
        for tensor in tensors:
            there = placement_of(tensor)
            if there.key != here.key:
                raise RuntimeError(
                    f"Input and {name} tensors are not at the same device, found input tensor at {here.device} "
                    f"and {name} tensor at {there.device}"
                )
            if here.key and tensor.dtype is not args[0].dtype and not torch.is_autocast_enabled(here.device.type):
                found, wanted = map(torch_errors.legacy_dtype_name, (tensor.dtype, args[0].dtype))
                raise RuntimeError(
                    f"Input and {name} tensors are not the same dtype, found input tensor with {wanted} "
                    f"and {name} tensor with {found}"
                )


def _check_tensor_split(tensor: torch.Tensor, indices: Any = None, *args: Any, **kwargs: Any) -> None:
    """Raise RuntimeError if the indices or sections of `torch.tensor_split` are a tensor that is not on the host."""
    indices = kwargs.get("tensor_indices_or_sections", indices)
    if isinstance(indices, torch.Tensor) and placement_of(indices).key:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {placement_of(indices).device}"
        )


def _check_quantile(tensor: torch.Tensor, q: Any = None, *args: Any, **kwargs: Any) -> None:
    """Raise RuntimeError if the argument `q` of `torch.quantile` is a tensor on another device than the input."""
    if isinstance(q, torch.Tensor) and placement_of(q).key != placement_of(tensor).key:
        raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")


def _check_meshgrid(tensors: Any, *args: Any, **kwargs: Any) -> None:
    """Raise RuntimeError if the tensors given to `torch.meshgrid` are on different devices."""
    if len({placement_of(tensor).key for tensor in tensors_in((tensors,))}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")


def _check_matrix_rank(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> None:
    """Raise RuntimeError if a tolerance of `torch.linalg.matrix_rank` is a tensor on another device than the input."""
    for name in ("atol", "rtol"):
        tolerance = kwargs.get(name)
        if isinstance(tolerance, torch.Tensor) and placement_of(tolerance).key != placement_of(tensor).key:
            raise RuntimeError(
                f"torch.linalg.matrix_rank: Expected {name} and input tensors to be on the same device, but got "
                f"{name} on {placement_of(tolerance).device} and input on {placement_of(tensor).device}"
            )


def _check_mps_linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
    """Raise RuntimeError if the arguments of `linear` are not all on MPS although one is.

    The checks are those of `_mps_linear` in torch's aten/src/ATen/native/mps/operations/Linear.mm. Linear layers of
    other backends leave the check to the operators that they consist of.
    """
    given = [(name, t) for name, t in (("input", input), ("weight", weight), ("bias", bias)) if t is not None]
    placed = [(name, placement_of(tensor)) for name, tensor in given]
    if any(place.device.type == "mps" for _, place in placed):
        for name, place in placed:
            if place.device.type != "mps":
                raise torch_errors.argument_not_on_mps(name, place.device)


def _check_half_transform(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> None:
    """Raise NotEmulated for a Fourier transform of float16 on a device, which CUDA computes and the host does not."""
    if placement_of(tensor).key and tensor.dtype is torch.float16:
        raise NotEmulated("a Fourier transform in float16")


def _with_lengths_on_host(pad: Callable[..., Any]) -> Callable[..., Any]:
    """Return `_pad_packed_sequence` so that the lengths it returns are known to be on the host, as they are on CUDA.

    torch's C++ code makes them, and they would get the device of the first tensor that they meet.
    """

    @functools.wraps(pad)
    def pad_packed_sequence(*args: Any, **kwargs: Any) -> Any:
        padded, lengths = pad(*args, **kwargs)
        label_tensor(lengths, Placement(HOST, "made by pad_packed_sequence, always on the host", None))
        return padded, lengths

    return pad_packed_sequence


_TRANSFORMS = tuple(
    f"{direction}{kind}fft{dimensions}"
    for direction in ("", "i")
    for kind in ("", "r", "h")
    for dimensions in ("", "2", "n")
)
"""The Fourier transforms in `torch.fft`."""
_CHECKS: tuple[tuple[Any, str, Check], ...] = (
    *((owner, name, _check_rnn) for owner in (torch, torch._VF) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")),
    (torch.linalg, "matrix_rank", _check_matrix_rank),
    (torch, "tensor_split", _check_tensor_split),
    (torch.Tensor, "tensor_split", _check_tensor_split),
    (torch, "quantile", _check_quantile),
    (torch.Tensor, "quantile", _check_quantile),
    (torch, "nanquantile", _check_quantile),
    (torch.Tensor, "nanquantile", _check_quantile),
    (torch._VF, "meshgrid", _check_meshgrid),
    *((torch.fft, name, _check_half_transform) for name in _TRANSFORMS),
)
"""The patched functions: owner, name and check."""


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace composite functions such as `torch.lstm`, so that they check the emulated devices of their tensors.

    PyTorch's own functions check the real devices at these points.
    """

    def guarded(original: Callable[..., Any], check: Check) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                check(*args, **kwargs)
            except RuntimeError as error:
                report_operator_error(session, error, args, kwargs)
                if not continues_after(session, error):
                    raise
            return original(*args, **kwargs)

        return wrapper

    ctc_loss: Callable[..., torch.Tensor] = torch.ctc_loss

    def with_numbers(log_probs: torch.Tensor, targets: torch.Tensor, *lengths_and_more: Any, **kwargs: Any) -> Any:
        """Call `torch.ctc_loss` with its tensors of lengths converted to lists of numbers, and return the loss.

        `ctc_loss` reads the lengths on the host, whichever device they are on.
        """
        arguments = [value.tolist() if isinstance(value, torch.Tensor) else value for value in lengths_and_more]
        return ctc_loss(log_probs, targets, *arguments, **kwargs)

    patcher.replace(torch, "ctc_loss", with_numbers)
    for owner in (torch, torch._VF):
        patcher.replace(owner, "_pad_packed_sequence", _with_lengths_on_host(owner._pad_packed_sequence))
    checks = (*_CHECKS, (torch.nn.functional, "linear", _check_mps_linear)) if session.kind == "mps" else _CHECKS
    for owner, name, check in checks:
        patcher.replace(owner, name, guarded(getattr(owner, name), check))
