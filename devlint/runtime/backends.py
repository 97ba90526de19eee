"""The accelerators that devlint can emulate, as data: the names and the error messages of each device type.

Everything here is copied from the sources of torch and of torch_npu, which are named. What the devices do not
do with dtypes is in `devlint/semantics/dtype_limits.py`. The module does not need torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from devlint.semantics.dtype_limits import DTYPE_LIMITS, DtypeLimit


@dataclass(frozen=True, slots=True)
class Backend:
    """What tells one emulated device type from another.

    `dispatch_key` names the generated C++ wrappers, and `checks_in_wrapper` whether these check devices. `autocast_key`
    is the dispatch key whose operators autocast casts, less `never_cast`. `tensor_method` is whether tensors have a
    method of the backend's name. `after_fork` is None if torch does not check for a forked process. A `single` backend
    has one device with one stream, and takes any index for it. `native_type_prefix` begins the names that C++ code
    gives to the types of tensors, if these are not legacy types such as `torch.cuda.FloatTensor`.
    """

    kind: str
    dispatch_key: str
    checks_in_wrapper: bool
    autocast_key: str
    absent_error: str
    absent_message: str
    after_fork: str | None
    never_cast: frozenset[str] = frozenset()
    recurrent_in_half: bool = False
    index_error: str = "RuntimeError"
    index_message: str = ""
    tensor_method: bool = True
    legacy_types: bool = False
    single: bool = False
    native_type_prefix: str = ""
    limits: tuple[DtypeLimit, ...] = ()

    def wrapper(self, operator: str) -> str:
        """Return the name of an operator's generated C++ wrapper for this backend, as torch's error messages give it.

        `operator` is the part of the name that is the same for all backends.
        """
        return f"wrapper_{self.dispatch_key}_{operator}"


_CUDA = Backend(
    kind="cuda",
    dispatch_key="CUDA",
    checks_in_wrapper=True,
    autocast_key="AutocastCUDA",
    absent_error="AssertionError",  # torch/cuda/__init__.py, _lazy_init
    absent_message="Torch not compiled with CUDA enabled",
    index_error="AcceleratorError",
    index_message=(
        "CUDA error: invalid device ordinal\n"
        "GPU device may be out of range, do you have enough GPUs?\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, "
        "so the stacktrace below might be incorrect."
    ),
    after_fork=(
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, "
        "you must use the 'spawn' start method"
    ),
    recurrent_in_half=True,  # cuDNN's kernels for recurrent layers run in half precision
    legacy_types=True,
)
_XPU = Backend(
    kind="xpu",
    dispatch_key="XPU",
    checks_in_wrapper=True,  # torchgen/gen.py, parse_native_yaml_struct: device_guard of CUDA and XPU only
    autocast_key="AutocastXPU",
    absent_error="AssertionError",  # torch/xpu/__init__.py, _lazy_init
    absent_message="Torch not compiled with XPU enabled",
    # c10/xpu/XPUFunctions.h, check_device_index
    index_message="The device index is out of range. It must be in [0, {count}), but got {index}.",
    after_fork=(  # torch/xpu/__init__.py, _lazy_init
        "Cannot re-initialize XPU in forked subprocess. To use XPU with multiprocessing, "
        "you must use the 'spawn' start method"
    ),
)
_MPS = Backend(
    kind="mps",
    dispatch_key="MPS",
    checks_in_wrapper=False,  # torchgen/gen.py, parse_native_yaml_struct: device_guard of CUDA and XPU only
    autocast_key="AutocastMPS",
    absent_error="RuntimeError",  # c10/core/impl/DeviceGuardImplInterface.h, getDeviceGuardImpl
    absent_message="PyTorch is not linked with support for mps devices",
    after_fork=None,
    tensor_method=False,
    # aten/src/ATen/mps/MPSGuardImpl.h: deviceCount is 1; getDevice, exchangeDevice and getNewStream look at no index.
    single=True,
    native_type_prefix="MPS",  # c10/core/Backend.h, toString
    limits=DTYPE_LIMITS["mps"],
)
_NEVER_CAST_ON_NPU = frozenset(
    "_upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d "
    "_upsample_nearest_exact3d linalg_vecdot rms_norm upsample_bicubic2d upsample_bilinear2d upsample_linear1d "
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d vdot".split()
)
"""Operators of AutocastCUDA that torch_npu/csrc/aten/AutoCastOps.cpp does not list."""
_NPU = Backend(
    kind="npu",
    dispatch_key="PrivateUse1",
    checks_in_wrapper=True,
    autocast_key="AutocastCUDA",  # torch_npu/csrc/aten/AutoCastOps.cpp lists the same operators, less a few
    never_cast=_NEVER_CAST_ON_NPU,
    absent_error="RuntimeError",  # c10/core/Device.cpp, parse_type: the name is not known without torch_npu
    absent_message="Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, "
    "lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string: npu",
    # torch_npu/csrc/core/npu/NPUStream.cpp, check_npu
    index_message="Invalid device_index : {index}, valid device_index range is [0, {count})",
    after_fork=(  # torch_npu/npu/__init__.py, _lazy_init
        "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, "
        "you must use the 'spawn' start method"
    ),
    legacy_types=True,
    limits=DTYPE_LIMITS["npu"],
)

BACKENDS = {backend.kind: backend for backend in (_CUDA, _XPU, _MPS, _NPU)}
"""The backends that can be emulated, by device type."""
EMULATED = "emulated"
"""The option value that asks for an emulated CUDA device; `emulated:xpu` and the like ask for another one."""
ALL_DEVICES = f"{EMULATED}:all"
"""The option value that asks to run a program on every emulated device and on the CPU."""
HOST = "cpu"
"""The option value that asks for a machine without an accelerator."""
EMULATED_OPTIONS = (EMULATED, *(f"{EMULATED}:{kind}" for kind in BACKENDS))
"""The option values that ask for one emulated device."""


def emulated_kind(option: str) -> str | None:
    """Return the device type that an option value asks to emulate; None if it asks for no emulated device.

    `mps` alone asks for an emulated device too, as there is no other.
    """
    if option == EMULATED:
        return _CUDA.kind
    if option == _MPS.kind:
        return option
    kind = option.removeprefix(f"{EMULATED}:")
    return kind if kind != option and kind in BACKENDS else None
