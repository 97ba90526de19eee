"""The errors that eager PyTorch raises for operands on the wrong device or of the wrong dtype, in its own words."""

from __future__ import annotations

import builtins
import re

import torch

from devlint.runtime.backends import Backend
from devlint.semantics.dtype_limits import DtypeLimit

LEGACY_DTYPE_NAMES = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
"""The names that torch's older error messages give to dtypes."""


_NO_KERNEL = re.compile(
    r"not implemented for '\w*(Half|BFloat16|Float8)|Unsupported dtype Half|could not create a primitive|"
    r"MKL FFT doesn't support tensors of type: Half"
)
"""Messages of errors that only the host raises, for dtypes without a host kernel."""
_CHECKED_TYPE = re.compile(r"(but got torch\.)(?=\w+Tensor instead \(while checking arguments for)")
"""What stands before the name of a type in the error of a kernel that checks the types of its arguments."""


def host_lacks_kernel(error: Exception) -> bool:
    """Return whether an error says that the host has no kernel for a narrow dtype such as `torch.float16`.

    An operator that fails so on the host may work on an accelerator.
    """
    return _NO_KERNEL.search(str(error)) is not None


def legacy_dtype_name(dtype: torch.dtype) -> str:
    """Return the name that PyTorch's older error messages give to a dtype, such as `Float` for `torch.float32`."""
    plain = str(dtype).removeprefix("torch.")
    return LEGACY_DTYPE_NAMES.get(plain, plain)


def legacy_type_name(dtype: torch.dtype, device: torch.device) -> str:
    """Return the legacy name for the type of a tensor with this dtype and device, such as `torch.cuda.FloatTensor`."""
    prefix = "torch." if device.type == "cpu" else f"torch.{device.type}."
    return f"{prefix}{legacy_dtype_name(dtype)}Tensor"


def native_type_name(dtype: torch.dtype, device: torch.device, backend: Backend) -> str:
    """Return the name that torch's C++ code gives to the type of a tensor, such as `torch.cuda.FloatTensor`.

    It is `MPSFloatType` for a backend that has no legacy tensor types of that form.
    """
    if device.type != backend.kind or not backend.native_type_prefix:
        return legacy_type_name(dtype, device)
    return f"{backend.native_type_prefix}{legacy_dtype_name(dtype)}Type"


def name_type_of_device(error: Exception, device: torch.device) -> None:
    """Change the message of an error in which the host's kernel names the type of a tensor to the device's name."""
    if isinstance(error, RuntimeError) and _CHECKED_TYPE.search(str(error)):
        error.args = (_CHECKED_TYPE.sub(rf"\1{device.type}.", str(error)), *error.args[1:])


def operands_on_two_devices(common: torch.device, other: torch.device) -> RuntimeError:
    """Return the error of PyTorch's TensorIterator for operands on two devices."""
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {common} and {other}!"
    )


def too_many_host_scalars() -> RuntimeError:
    """Return the error of PyTorch's TensorIterator for more than one 0-dim host operand."""
    return RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")


def kernel_takes_no_host_scalar(operator: str, position: int) -> RuntimeError:
    """Return the error of a CUDA kernel for a 0-dim host operand that TensorIterator's own device check has allowed."""
    if operator == "addcmul":
        name = ("self", "tensor1")[position]
        swap = "However, CPU Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms."
        return RuntimeError(
            f"CPU Scalar support for {name} argument is not supported when calling addcmul on CUDA tensors."
            f"{' ' + swap if position else ''}"
        )
    return RuntimeError(
        "iter.device(arg).is_cuda() INTERNAL ASSERT FAILED, please report a bug to PyTorch. "
        f"argument {position + 1}: expected a CUDA device but found cpu"
    )


def argument_on_other_device(argument: str, found: torch.device, common: torch.device, method: str) -> RuntimeError:
    """Return the error of PyTorch's generated C++ wrapper for an argument on another device than the other tensors.

    `method` is the name of the wrapper.
    """
    return RuntimeError(
        f"Expected all tensors to be on the same device, but got {argument} is on {found}, "
        f"different from other tensors on {common} (when checking argument in method {method})"
    )


def index_on_other_device(indexed: torch.device) -> RuntimeError:
    """Return PyTorch's error for an index that is on an accelerator on which the indexed tensor is not."""
    return RuntimeError(f"indices should be either on cpu or on the same device as the indexed tensor ({indexed})")


def convolution_type_mismatch(role: str, first: str, second: str) -> RuntimeError:
    """Return PyTorch's error for a convolution whose input has another legacy tensor type than its weight or bias.

    `first` and `second` are such types, for example `torch.cuda.FloatTensor`.
    """
    return RuntimeError(f"Input type ({first}) and {role} type ({second}) should be the same")


def generator_on_other_device(expected: str, found: str) -> RuntimeError:
    """Return PyTorch's error for a random generator of another device type than that of the tensor that it fills."""
    return RuntimeError(f"Expected a '{expected}' device type for generator but found '{found}'")


def numpy_of_device_tensor(device: torch.device) -> TypeError:
    """Return PyTorch's error for calling `.numpy()` on a tensor in accelerator memory."""
    return TypeError(
        f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )


def legacy_constructor_of_other_device(own: torch.device, asked: torch.device) -> RuntimeError:
    """Return PyTorch's error for a legacy constructor that is asked for a tensor on another type of device."""
    return RuntimeError(f"legacy constructor expects device type: {own.type} but device type: {asked.type} was passed")


_CPP_DTYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
}
"""The names of dtypes in C++, where they differ from those in Python."""


def legacy_constructor_of_other_tensor(wanted: tuple[str, torch.dtype], found: tuple[str, torch.dtype]) -> TypeError:
    """Return PyTorch's error for a legacy constructor that is given a tensor of another device or dtype than its own.

    Each of the two is a device and a dtype.
    """
    ours, theirs = (
        f"TensorOptions(dtype={_CPP_DTYPES.get(name := str(dtype).removeprefix('torch.'), name)}, device={device}, "
        "layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
        for device, dtype in (wanted, found)
    )
    return TypeError(f"expected {ours} (got {theirs})")


def sparse_parts_on_two_devices(indices: torch.device, values: torch.device) -> RuntimeError:
    """Return PyTorch's error for creating a sparse tensor whose indices and values are on different devices."""
    return RuntimeError(f"device of indices ({indices}) must match device of values ({values})")


def pinning_device_tensor(legacy_type: str) -> RuntimeError:
    """Return PyTorch's error for pinning a tensor that is not in host memory."""
    return RuntimeError(f"cannot pin '{legacy_type}' only dense CPU tensors can be pinned")


def pinned_factory_on_device() -> RuntimeError:
    """Return PyTorch's error for a factory call that asks for pinned memory on an accelerator."""
    return RuntimeError("Only dense CPU tensors can be pinned")


def invalid_device_index(backend: Backend, index: int, count: int) -> Exception:
    """Return PyTorch's error for the index of a backend's device beyond the `count` devices that exist."""
    kind: type[Exception] = getattr(torch, backend.index_error, RuntimeError)
    return kind(backend.index_message.format(index=index, count=count))


def absent_backend(backend: Backend) -> Exception:
    """Return PyTorch's error for a device of a backend that this torch was built without, or that is not there."""
    kind: type[Exception] = getattr(builtins, backend.absent_error)
    return kind(backend.absent_message)


def argument_not_on_mps(argument: str, found: torch.device) -> RuntimeError:
    """Return PyTorch's error for an argument of `linear` that is not on MPS while another argument is."""
    return RuntimeError(f"Tensor for argument {argument} is on {found} but expected on mps")


def storage_not_on_mps() -> RuntimeError:
    """Return PyTorch's error for an operand of an MPS kernel that is in host memory."""
    return RuntimeError("Placeholder storage has not been allocated on MPS device!")


def dtype_not_on_device(limit: DtypeLimit) -> TypeError:
    """Return PyTorch's error for a dtype that a backend does not have."""
    return TypeError(limit.message)


def lengths_not_on_host(dims: int, device: torch.device, dtype: torch.dtype) -> RuntimeError:
    """Return PyTorch's error for lengths that are not on the host, in `pack_padded_sequence`."""
    return RuntimeError(
        "'lengths' argument should be a 1D CPU int64 tensor, "
        f"but got {dims}D {device} {legacy_dtype_name(dtype)} tensor"
    )


def dtype_without_kernel(kernel: str, dtype: torch.dtype) -> NotImplementedError:
    """Return PyTorch's error for a dtype in which a kernel is not there; `kernel` is its name in the source."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{legacy_dtype_name(dtype)}'")


def dtype_without_cudnn(dtype: torch.dtype) -> RuntimeError:
    """Return PyTorch's error for a dtype that cuDNN does not have."""
    return RuntimeError(f"getCudnnDataTypeFromScalarType() not supported for {legacy_dtype_name(dtype)}")


def scalar_type_expected(expected: torch.dtype, found: torch.dtype) -> RuntimeError:
    """Return PyTorch's error for a tensor whose memory a kernel reads as another dtype than it has."""
    return RuntimeError(f"expected scalar type {legacy_dtype_name(expected)} but found {legacy_dtype_name(found)}")
