"""Names that the libraries beside torch had and their newest releases lack: to read or import one raises an error."""

from __future__ import annotations

from typing import Final

_NAMES: Final = {
    "collections": (  # Python 3.10: they are in collections.abc
        "AsyncGenerator AsyncIterable AsyncIterator Awaitable ByteString Callable Collection Container Coroutine"
        " Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence"
        " MutableSet Reversible Sequence Set Sized ValuesView"
    ),
    "inspect": "getargspec",  # Python 3.11
    "numpy": "complex float int object str",  # NumPy 1.24; 2.0 has `bool` and `long` again
    "scipy.misc": "bytescale fromimage imfilter imread imresize imrotate imsave imshow toimage",  # SciPy 1.2 and 1.3
    "skimage.measure": "compare_mse compare_nrmse compare_psnr compare_ssim",  # scikit-image 0.18
    "sklearn": "cross_validation externals.joblib grid_search learning_curve",  # scikit-learn 0.20 and 0.23
    "time": "clock",  # Python 3.8
    "torch": "_six",  # torch 2.0
    "torchvision.models": "utils",  # torchvision 0.13
    "torchvision.transforms": "functional_tensor",  # torchvision 0.17
}

REMOVED_NAMES: Final = frozenset(f"{module}.{name}" for module, names in _NAMES.items() for name in names.split())
"""The dotted names, by the release notes of each library."""
