"""Handlers that emulate torch operators with an unusual device check or an unusual device of the result.

PyTorch checks the devices for these operators in code written by hand, not in generated code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import tensor_iterator, torch_errors
from devlint.runtime.device_transfers import record_transfer, track_completion
from devlint.runtime.operator_plans import OperatorPlan
from devlint.runtime.storage_labels import HOST, Placement, label_of, label_tensor
from devlint.runtime.tensor_iterator import Operand, decided_placement

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import RuntimeSession

OperatorHandler = Callable[..., Any]
"""A function of session, plan, overload, args and kwargs.

It returns the operator's result, or NotImplemented if the operator must still run.
"""
SPECIAL_HANDLERS: dict[str, OperatorHandler] = {}
"""The special handlers by operator name."""
Arguments = tuple[Any, ...]


def _handles(*names: str) -> Callable[[OperatorHandler], OperatorHandler]:
    """Return a decorator that registers a function as handler of the named torch operators under emulation.

    The handler runs in place of the operator, or before it if the handler returns NotImplemented.
    """

    def register(handler: OperatorHandler) -> OperatorHandler:
        SPECIAL_HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


def _argument(args: Arguments, kwargs: dict[str, Any], index: int, name: str) -> Any:
    """Return an argument of an operator's call, given at a position or else by a name; None if it is not given."""
    return args[index] if index < len(args) else kwargs.get(name)


@_handles("copy_")
def _copy(session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]) -> Any:
    """Run `copy_` between tensors on different devices as a recorded transfer, and return its result.

    Returns NotImplemented if both tensors are on one device, because the operator itself must still run.
    """
    target, source = decided_placement(args[0]), decided_placement(args[1])
    if target is None or source is None or target.key == source.key:
        return NotImplemented
    non_blocking = bool(_argument(args, kwargs, 2, "non_blocking"))
    out = func(*args, **kwargs)
    if source.key == 0 and args[1].dim() == 0:
        return out
    source_label, target_label = label_of(args[1]), label_of(args[0])
    pinned = bool((source_label and source_label.pinned) or (target_label and target_label.pinned))
    record_transfer(source, target.device, args[1], blocking=not non_blocking, pinned=pinned, how="copy_")
    asynchronous = non_blocking and (pinned or target.key != 0)
    track_completion(session, args[1], args[0], source, target.device, non_blocking=asynchronous, pinned=pinned)
    return out


@_handles("index", "_unsafe_index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put")
def _indexing(session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]) -> Any:
    """Check the devices of the indices and the value of an indexing operator, and record where the host must wait.

    A read takes indices on the host or on the tensor's device, a write takes any; a value must be on the tensor's
    device or 0-dim. Returns NotImplemented, because the operator itself must still run.
    """
    indexed = decided_placement(args[0])
    if indexed is None:
        return NotImplemented
    reads = "put" not in plan.name
    for index in args[1]:
        if not isinstance(index, torch.Tensor):
            continue
        place = decided_placement(index)
        if place is not None and place.key not in (0, indexed.key):
            if reads:
                raise torch_errors.index_on_other_device(indexed.device)
            session.host_waited("index from another device")
        elif indexed.key and place is not None and not place.key:
            session.host_waited("host index")
        elif indexed.key and index.dtype in (torch.bool, torch.uint8) and not plan.writes and reads:
            session.host_waited("mask index")
    if len(args) > 2 and isinstance(args[2], torch.Tensor):
        value = decided_placement(args[2])
        if value is not None and value.key != indexed.key and args[2].dim() > 0:
            raise torch_errors.operands_on_two_devices(indexed.device, value.device)
    return NotImplemented


@_handles("masked_fill_")
def _masked_fill(
    session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]
) -> Any:
    """Raise the error of `masked_fill_` if the mask is not on the filled tensor's device.

    A value on an accelerator is an error too if the filled tensor is on the host. Returns NotImplemented otherwise,
    because the operator itself must still run.
    """
    filled, mask = decided_placement(args[0]), decided_placement(args[1])
    value = decided_placement(args[2]) if isinstance(args[2], torch.Tensor) else None
    if filled is not None and value is not None and not filled.key and (value.key or (mask is not None and mask.key)):
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if filled is not None and mask is not None and filled.key != mask.key:
        raise RuntimeError(
            f"expected self and mask to be on the same device, but got mask on {mask.device} "
            f"and self on {filled.device}"
        )
    return NotImplemented


@_handles("index_fill_")
def _index_fill(session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]) -> Any:
    """Raise the error of `index_fill_` if the filled tensor and the index are on different devices.

    A value that is a tensor may be on any device, because it is read as a number. Returns NotImplemented otherwise,
    because the operator itself must still run.
    """
    tensor_iterator.check_operands(
        [Operand(0, args[0], True), Operand(2, args[2], False)], plan.host_scalars, plan.name
    )
    return NotImplemented


@_handles("block_diag")
def _block_diag(session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]) -> Any:
    """Raise the error of `torch.block_diag` if an input is not on the device of the first input.

    Returns NotImplemented otherwise, because the operator itself must still run.
    """
    places = [place for tensor in args[0] if (place := decided_placement(tensor)) is not None]
    for index, place in enumerate(places):
        if place.key != places[0].key:
            raise RuntimeError(
                "torch.block_diag: input tensors must all be on the same device. "
                f"Input 0 is on device {places[0].device} and input {index} is on device {place.device}"
            )
    return NotImplemented


@_handles("convolution", "_convolution")
def _convolution(
    session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]
) -> Any:
    """Raise the error of a convolution if weight or bias differ from the input in device or, on a device, in dtype.

    The error names legacy tensor types such as `torch.cuda.FloatTensor`. Returns NotImplemented otherwise, because the
    operator itself must still run.
    """
    image, weight, bias = args[0], args[1], args[2]
    for role, other in (("weight", weight), ("bias", bias)):
        if not isinstance(other, torch.Tensor):
            continue
        here, there = decided_placement(image), decided_placement(other)
        if here is None or there is None:
            continue
        if here.key != there.key or (here.key and image.dtype is not other.dtype):
            if here.key and there.key and here.key != there.key:
                raise torch_errors.argument_on_other_device(
                    role, there.device, here.device, session.backend.wrapper("_cudnn_convolution")
                )
            types = (
                torch_errors.native_type_name(tensor.dtype, place.device, session.backend)
                for tensor, place in ((image, here), (other, there))
            )
            raise torch_errors.convolution_type_mismatch(role, *types)
    return NotImplemented


@_handles("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_math")
def _attention(session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]) -> Any:
    """Raise the error of an attention operator if query, key, value and mask are on different devices.

    Returns NotImplemented otherwise, because the operator itself must still run.
    """
    query, key, value = (decided_placement(t) for t in args[:3])
    if query and key and value and not query.key == key.key == value.key:
        raise RuntimeError(
            "Expected query, key, and value to have the same device type, but got "
            f"query.device: {query.device} key.device: {key.device} and value.device: {value.device} instead."
        )
    mask = _argument(args, kwargs, 5, "attn_mask")
    if isinstance(mask, torch.Tensor) and query is not None:
        place = decided_placement(mask)
        if place is not None and place.key != query.key:
            method = session.backend.wrapper("__scaled_dot_product_efficient_attention")
            raise torch_errors.argument_on_other_device("attn_bias", place.device, query.device, method)
    return NotImplemented


@_handles("_pack_padded_sequence")
def _pack_sequence(
    session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]
) -> Any:
    """Return the result of `_pack_padded_sequence`; raise its error if the lengths are not on the host.

    The packed data is labelled with the device of the input, and the batch sizes are labelled as host tensors.
    """
    lengths = decided_placement(args[1])
    if lengths is not None and lengths.key:
        raise torch_errors.lengths_not_on_host(args[1].dim(), lengths.device, args[1].dtype)
    data, batch_sizes = func(*args, **kwargs)
    place = decided_placement(args[0])
    if place is not None and place.key:
        label_tensor(data, place)
    label_tensor(batch_sizes, Placement(HOST, "made by pack_padded_sequence, always on the host", None))
    return data, batch_sizes


@_handles("grid_sampler_2d", "grid_sampler_3d")
def _grid_sampler(
    session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]
) -> Any:
    """Raise the error of `grid_sampler` if its input and grid are on different devices.

    Returns NotImplemented otherwise, because the operator itself must still run.
    """
    image, grid = decided_placement(args[0]), decided_placement(args[1])
    if image is not None and grid is not None and image.key != grid.key:
        raise RuntimeError(
            "grid_sampler(): expected input and grid to be on same device, "
            f"but input is on {image.device} and grid is on {grid.device}"
        )
    return NotImplemented


@_handles("_cdist_forward", "_euclidean_dist")
def _cdist(session: RuntimeSession, plan: OperatorPlan, func: Any, args: Arguments, kwargs: dict[str, Any]) -> Any:
    """Raise the error of `torch.cdist` if its two inputs have different device types.

    Returns NotImplemented otherwise, because the operator itself must still run.
    """
    left, right = decided_placement(args[0]), decided_placement(args[1])
    if left is not None and right is not None and left.device.type != right.device.type:
        raise RuntimeError(f"X1 and X2 must have the same device type. X1: {left.device.type} X2: {right.device.type}")
    return NotImplemented
