"""Handwritten sample calls of torch functions that torch's OpInfo database leaves out or covers by a wrapper only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.utils.rnn import pack_sequence

Arguments = tuple[Any, ...]


def floats(*size: int) -> torch.Tensor:
    """Return a random float32 tensor of this size with values between 0.1 and 0.9."""
    return torch.rand(size) * 0.8 + 0.1


def ints(*size: int, high: int = 2) -> torch.Tensor:
    """Return a random int64 tensor of this size with values from 0 to ``high`` - 1."""
    return torch.randint(0, high, size)


def bools(*size: int) -> torch.Tensor:
    """Return a bool tensor of this size in which True and False alternate."""
    return torch.arange(max(1, torch.Size(size).numel())).reshape(size) % 2 == 0


def sparse(*size: int) -> torch.Tensor:
    """Return a random sparse float32 tensor of this size, in COO layout."""
    return floats(*size).to_sparse()


def _cell(gates: int) -> list[torch.Tensor]:
    """Return small random weights and biases of a recurrent cell with this number of gates."""
    return [floats(4 * gates, 3), floats(4 * gates, 4), floats(4 * gates), floats(4 * gates)]


def _rnn(gates: int, *state: torch.Tensor) -> list[Arguments]:
    """Return sample arguments of ``torch.lstm``, ``torch.gru`` or ``torch.rnn_tanh``: a list with one argument tuple.

    ``gates`` is the number of gates of the recurrent layer, and ``state`` are its initial states.
    """
    hidden = state if gates == 4 else state[0]
    return [(floats(2, 1, 3), hidden, _cell(gates), True, 1, 0.0, False, False, False)]


def _matrix() -> list[Arguments]:
    """Return sample arguments of a function that takes one matrix: a list with one argument tuple."""
    return [(floats(2, 3),)]


def _weights() -> list[Arguments]:
    """Return sample arguments of a function that takes one weight matrix: a list with one argument tuple."""
    return [(floats(3, 4),)]


def _quantized() -> list[Arguments]:
    """Return sample arguments of a function that takes one quantized matrix: a list with one argument tuple."""
    return [(torch.quantize_per_tensor(floats(2, 3), 0.1, 0, torch.qint8),)]


_FUNCTIONS: dict[str, Callable[[], list[Arguments]]] = {
    "torch.einsum": lambda: [
        ("ij,jk->ik", floats(2, 3), floats(3, 4)),
        ("ij->i", floats(2, 3)),
        ("ij,ij->", floats(2, 3), floats(2, 3)),
    ],
    "torch.where": lambda: [
        (bools(2, 3), floats(2, 3), floats(2, 3)),
        (bools(3), floats(2, 3), floats(1, 3)),
        (bools(2, 3), floats(2, 3), 1.0),
        (bools(2, 3), 0.0, floats(2, 3)),
        (bools(2, 3),),
    ],
    "torch.embedding": lambda: [(floats(4, 5), ints(2, 3)), (floats(4, 5), ints(3))],
    "torch.nn.functional.embedding": lambda: [
        (ints(2, 3), floats(4, 5)),
        (ints(3), floats(4, 5)),
        (ints(), floats(4, 5)),
    ],
    "torch.nn.functional.embedding_bag": lambda: [
        (ints(2, 3), floats(4, 5)),
        (ints(6), floats(4, 5), torch.tensor([0, 3])),
        (ints(2, 3), floats(4, 5), None, None, 2.0, False, "sum", False, floats(2, 3)),
    ],
    "torch.nn.functional.batch_norm": lambda: [
        (floats(2, 3, 4), floats(3), floats(3), floats(3), floats(3), True),
        (floats(2, 3, 4), floats(3), floats(3), floats(3), floats(3), False),
        (floats(2, 3), floats(3), floats(3), None, None, False),
        (floats(2, 3), None, None, floats(3), floats(3), True),
    ],
    "torch.nn.functional.alpha_dropout": lambda: [(floats(2, 3), 0.5, True), (floats(), 0.5, True)],
    "torch.nn.functional.feature_alpha_dropout": lambda: [(floats(2, 3, 4), 0.5, True)],
    "torch.linalg.pinv": lambda: [(floats(2, 3),), (floats(2, 2, 3),)],
    "torch.nn.functional.one_hot": lambda: [(ints(3),), (ints(2, 3), 4), (ints(),)],
    "torch.embedding_bag": lambda: [(floats(4, 5), ints(6), torch.tensor([0, 3]))],
    "torch.threshold": lambda: [(floats(2, 3), 0.5, 0.0)],
    "torch.rrelu": _matrix,
    "torch.selu": _matrix,
    "torch.celu": _matrix,
    "torch.dropout": lambda: [(floats(2, 3), 0.5, True), (floats(2, 3), 0.5, False)],
    "torch.alpha_dropout": lambda: [(floats(2, 3), 0.5, True)],
    "torch.feature_dropout": lambda: [(floats(2, 3, 4), 0.5, True)],
    "torch.feature_alpha_dropout": lambda: [(floats(2, 3, 4), 0.5, True)],
    "torch.native_dropout": lambda: [(floats(2, 3), 0.5, True)],
    "torch.relu_": lambda: [(floats(2, 3),), (floats(),)],
    "torch.detach_": _matrix,
    "torch.is_tensor": _matrix,
    "torch.is_storage": _matrix,
    "torch.result_type": lambda: [(floats(2), floats(2))],
    "torch.promote_types": lambda: [(torch.float32, torch.float64)],
    "torch.can_cast": lambda: [(torch.float32, torch.float64)],
    "torch.poisson": lambda: [(floats(2, 3),), (floats(),)],
    "torch.binomial": lambda: [(floats(2, 3), floats(2, 3))],
    "torch.vander": lambda: [(floats(3),)],
    "torch.chain_matmul": lambda: [(floats(2, 3), floats(3, 4))],
    "torch.polygamma": lambda: [(1, floats(2, 3)), (1, floats())],
    "torch.special.polygamma": lambda: [(1, floats(2, 3)), (1, floats())],
    "torch.special.gammainc": lambda: [(floats(2, 3), floats(2, 3))],
    "torch.special.gammaincc": lambda: [(floats(2, 3), floats(2, 3))],
    "torch.svd_lowrank": lambda: [(floats(4, 4), 2)],
    "torch.pca_lowrank": lambda: [(floats(4, 4), 2)],
    "torch.rand": lambda: [(2, 3), ((2, 3),)],
    "torch.randperm": lambda: [(4,)],
    "torch.range": lambda: [(0.0, 3.0)],
    "torch.hann_window": lambda: [(4,)],
    "torch.hamming_window": lambda: [(4,)],
    "torch.blackman_window": lambda: [(4,)],
    "torch.bartlett_window": lambda: [(4,)],
    "torch.kaiser_window": lambda: [(4,)],
    "torch.fft.fftfreq": lambda: [(4,)],
    "torch.fft.rfftfreq": lambda: [(4,)],
    "torch.affine_grid_generator": lambda: [(floats(1, 2, 3), (1, 1, 4, 4), False)],
    "torch.grid_sampler": lambda: [(floats(1, 1, 4, 4), floats(1, 2, 2, 2), 0, 0, False)],
    "torch.batch_norm": lambda: [(floats(2, 3, 4), floats(3), floats(3), floats(3), floats(3), True, 0.1, 1e-5, False)],
    "torch.instance_norm": lambda: [
        (floats(2, 3, 4), floats(3), floats(3), floats(3), floats(3), True, 0.1, 1e-5, False)
    ],
    "torch.native_norm": lambda: [(sparse(2, 3),)],
    "torch.norm_except_dim": lambda: [(floats(2, 3),)],
    "torch.frobenius_norm": lambda: [(floats(2, 3), [0, 1])],
    "torch.nuclear_norm": lambda: [(floats(2, 3),)],
    "torch.fill": lambda: [(floats(2, 3), 1.0), (floats(2, 3), floats())],
    "torch.detach_copy": _matrix,
    "torch.select_copy": lambda: [(floats(2, 3), 0, 1)],
    "torch.slice_copy": lambda: [(floats(2, 3), 0, 0, 1)],
    "torch.split_copy": lambda: [(floats(4, 3), 2)],
    "torch.unsafe_split_with_sizes": lambda: [(floats(4, 3), [1, 3])],
    "torch.view_as_complex_copy": lambda: [(floats(3, 2),)],
    "torch.view_as_real_copy": lambda: [(floats(3, 2).to(torch.complex64),)],
    "torch.max_pool1d": lambda: [(floats(1, 2, 8), 2)],
    "torch.max_pool2d": lambda: [(floats(1, 2, 8, 8), 2)],
    "torch.max_pool3d": lambda: [(floats(1, 2, 8, 8, 8), 2)],
    "torch.max_pool1d_with_indices": lambda: [(floats(1, 2, 8), 2)],
    "torch.adaptive_max_pool1d": lambda: [(floats(1, 2, 8), 2)],
    "torch.convolution": lambda: [(floats(1, 2, 8), floats(3, 2, 3), floats(3), [1], [0], [1], False, [0], 1)],
    "torch.lstm": lambda: _rnn(4, floats(1, 1, 4), floats(1, 1, 4)),
    "torch.gru": lambda: _rnn(3, floats(1, 1, 4)),
    "torch.rnn_tanh": lambda: _rnn(1, floats(1, 1, 4)),
    "torch.rnn_relu": lambda: _rnn(1, floats(1, 1, 4)),
    "torch.lstm_cell": lambda: [(floats(2, 3), [floats(2, 4), floats(2, 4)], *_cell(4))],
    "torch.gru_cell": lambda: [(floats(2, 3), floats(2, 4), *_cell(3))],
    "torch.rnn_tanh_cell": lambda: [(floats(2, 3), floats(2, 4), *_cell(1))],
    "torch.rnn_relu_cell": lambda: [(floats(2, 3), floats(2, 4), *_cell(1))],
    "torch.binary_cross_entropy_with_logits": lambda: [
        (floats(2, 3), floats(2, 3)),
        (floats(2, 3), floats(2, 3), floats(3), floats(3)),
    ],
    "torch.cosine_embedding_loss": lambda: [(floats(2, 3), floats(2, 3), floats(2))],
    "torch.hinge_embedding_loss": lambda: [(floats(2, 3), floats(2, 3))],
    "torch.kl_div": lambda: [(floats(2, 3), floats(2, 3))],
    "torch.margin_ranking_loss": lambda: [(floats(2), floats(2), floats(2))],
    "torch.poisson_nll_loss": lambda: [(floats(2), floats(2), True, False, 1e-8, 1)],
    "torch.triplet_margin_loss": lambda: [(floats(2, 3), floats(2, 3), floats(2, 3))],
    "torch.ctc_loss": lambda: [(floats(5, 2, 4), 1 + ints(2, 3), torch.tensor([5, 5]), torch.tensor([3, 2]))],
    "torch.smm": lambda: [(sparse(3, 3), floats(3, 3))],
    "torch.spmm": lambda: [(sparse(3, 3), floats(3, 3))],
    "torch.dsmm": lambda: [(sparse(3, 3), floats(3, 3))],
    "torch.hsmm": lambda: [(sparse(3, 3), floats(3, 3))],
    "torch.hspmm": lambda: [(sparse(3, 3), floats(3, 3))],
    "torch.saddmm": lambda: [(sparse(3, 3), sparse(3, 3), floats(3, 3))],
    "torch.sspaddmm": lambda: [(sparse(3, 3), sparse(3, 3), floats(3, 3))],
    "torch.indices_copy": lambda: [(sparse(2, 3).coalesce(),)],
    "torch.values_copy": lambda: [(sparse(2, 3).coalesce(),)],
    "torch.crow_indices_copy": lambda: [(floats(2, 3).to_sparse_csr(),)],
    "torch.col_indices_copy": lambda: [(floats(2, 3).to_sparse_csr(),)],
    "torch.ccol_indices_copy": lambda: [(floats(2, 3).to_sparse_csc(),)],
    "torch.row_indices_copy": lambda: [(floats(2, 3).to_sparse_csc(),)],
    "torch.lobpcg": lambda: [(torch.diag(torch.arange(1.0, 10.0)), 1)],
    "torch.sparse_coo_tensor": lambda: [(ints(1, 2), floats(2), (3,))],
    "torch.sparse_csr_tensor": lambda: [(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), floats(2))],
    "torch.sparse_csc_tensor": lambda: [(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), floats(2))],
    "torch.sparse_bsr_tensor": lambda: [(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), floats(2, 1, 1))],
    "torch.sparse_bsc_tensor": lambda: [(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), floats(2, 1, 1))],
    "torch.quantize_per_tensor": lambda: [(floats(2, 3), 0.1, 0, torch.qint8)],
    "torch.quantize_per_tensor_dynamic": lambda: [(floats(2, 3), torch.qint8, False)],
    "torch.quantize_per_channel": lambda: [(floats(2, 3), floats(2), ints(2), 0, torch.qint8)],
    "torch.dequantize": _matrix,
    "torch.fake_quantize_per_tensor_affine": lambda: [(floats(2, 3), 0.1, 0, 0, 255)],
    "torch.fake_quantize_per_channel_affine": lambda: [
        (floats(2, 3), floats(2), torch.zeros(2, dtype=torch.int32), 0, 0, 255)
    ],
    "torch.get_rng_state": lambda: [()],
    "torch.manual_seed": lambda: [(0,)],
    "torch.unique": lambda: [(floats(3),), (floats(2, 3),)],
    "torch.unique_consecutive": lambda: [(floats(3),), (floats(2, 3),)],
    "torch.broadcast_tensors": lambda: [(floats(2, 3), floats(1, 3)), (floats(2, 3),)],
    "torch.nn.functional.upsample": lambda: [(floats(1, 1, 4, 4), 8)],
    "torch.nn.functional.fold": lambda: [(floats(1, 4, 9), (4, 4), 2)],
    "torch.nn.functional.gumbel_softmax": _matrix,
    "torch.nn.functional.affine_grid": lambda: [(floats(1, 2, 3), (1, 1, 4, 4))],
    "torch.nn.functional.lp_pool1d": lambda: [(floats(1, 2, 8), 2.0, 2)],
    "torch.nn.functional.lp_pool2d": lambda: [(floats(1, 2, 8, 8), 2.0, 2)],
    "torch.nn.functional.lp_pool3d": lambda: [(floats(1, 2, 8, 8, 8), 2.0, 2)],
    "torch.nn.functional.dropout1d": lambda: [(floats(1, 2, 8),)],
    "torch.nn.functional.conv_tbc": lambda: [(floats(4, 1, 2), floats(3, 2, 5), floats(5))],
    "torch.nn.functional.native_channel_shuffle": lambda: [(floats(1, 4, 2, 2), 2)],
    "torch.nn.functional.adaptive_max_pool1d_with_indices": lambda: [(floats(1, 2, 8), 2)],
    "torch.nn.functional.adaptive_max_pool2d_with_indices": lambda: [(floats(1, 2, 8, 8), 2)],
    "torch.nn.functional.adaptive_max_pool3d_with_indices": lambda: [(floats(1, 2, 8, 8, 8), 2)],
    "torch.nn.functional.max_pool1d_with_indices": lambda: [(floats(1, 2, 8), 2)],
    "torch.nn.functional.max_pool2d_with_indices": lambda: [(floats(1, 2, 8, 8), 2)],
    "torch.nn.functional.max_pool3d_with_indices": lambda: [(floats(1, 2, 8, 8, 8), 2)],
    "torch.nn.functional.fractional_max_pool2d_with_indices": lambda: [(floats(1, 2, 8, 8), 2, 4)],
    "torch.nn.functional.fractional_max_pool3d_with_indices": lambda: [(floats(1, 2, 8, 8, 8), 2, 4)],
    "torch.nn.init.calculate_gain": lambda: [("relu",)],
    "torch.nn.init.constant_": lambda: [(floats(3, 4), 1.0)],
    "torch.nn.init.dirac_": lambda: [(floats(3, 4, 2),)],
    "torch.nn.init.sparse_": lambda: [(floats(3, 4), 0.5)],
    **{
        f"torch.nn.init.{name}_": _weights
        for name in (
            "eye kaiming_normal kaiming_uniform normal ones orthogonal trunc_normal uniform xavier_normal"
            " xavier_uniform zeros"
        ).split()
    },
    "torch.nn.utils.rnn.pad_sequence": lambda: [([floats(2, 3), floats(4, 3)],), ([floats(2), floats(4)], True)],
    "torch.nn.utils.rnn.unpad_sequence": lambda: [(floats(4, 2, 3), torch.tensor([4, 2]))],
    "torch.nn.utils.rnn.pad_packed_sequence": lambda: [(pack_sequence([floats(3, 2), floats(2, 2)]),)],
    "torch.nn.utils.parameters_to_vector": lambda: [([floats(2, 3), floats(4)],)],
    "torch.nn.utils.vector_to_parameters": lambda: [(floats(10), [floats(2, 3), floats(4)])],
    "torch.nn.utils.clip_grad_norm_": lambda: [([floats(2, 3)], 1.0)],
}

_BOTH: dict[str, Callable[[], list[Arguments]]] = {
    "nonzero": lambda: [(floats(2, 3),), (floats(3),)],
    "relu": lambda: [(floats(2, 3),), (floats(),)],
    "detach": lambda: [(floats(2, 3),), (floats(),)],
    "slogdet": lambda: [(floats(3, 3),), (floats(2, 3, 3),)],
    "numel": _matrix,
    "is_nonzero": lambda: [(floats(1),)],
    "is_same_size": lambda: [(floats(2), floats(2))],
    **dict.fromkeys(
        "is_floating_point is_complex is_signed is_conj is_neg is_inference is_distributed".split(), _matrix
    ),
    "get_device": _matrix,
    "dequantize": _matrix,
    "unsafe_split_with_sizes": lambda: [(floats(4, 3), [1, 3])],
    "smm": lambda: [(sparse(3, 3), floats(3, 3))],
    "sspaddmm": lambda: [(sparse(3, 3), sparse(3, 3), floats(3, 3))],
}

_METHODS: dict[str, Callable[[], list[Arguments]]] = {
    "relu_": lambda: [(floats(2, 3),), (floats(),)],
    "detach_": _matrix,
    "hardshrink": _matrix,
    "prelu": lambda: [(floats(2, 3), floats(1)), (floats(2, 3), floats(3))],
    "copy_": lambda: [(floats(2, 3), floats(2, 3)), (floats(2, 3), floats(3)), (floats(2, 3), floats())],
    "fill_": lambda: [(floats(2, 3), 1.0), (floats(2, 3), floats())],
    "fill_diagonal_": lambda: [(floats(3, 3), 1.0)],
    "float_power_": lambda: [(floats(2, 3).double(), 2.0)],
    "type_as": lambda: [(floats(2, 3), floats(2, 3)), (floats(2, 3), ints(3))],
    **dict.fromkeys(
        (
            "tolist dim ndimension nelement size stride storage_offset element_size data_ptr const_data_ptr"
            " is_contiguous is_pinned is_shared dim_order requires_grad_ share_memory_ __len__ normal_ uniform_"
            " random_ exponential_ __hash__ __repr__ untyped_storage storage storage_type to_sparse"
            " to_sparse_coo to_sparse_csr to_sparse_csc to_dense dense_dim sparse_dim to_mkldnn"
            " __iter__ __reversed__ _is_view"
        ).split(),
        _matrix,
    ),
    "size": lambda: [(floats(2, 3),), (floats(2, 3), 0)],
    "stride": lambda: [(floats(2, 3),), (floats(2, 3), 0)],
    "__float__": lambda: [(floats(1),), (floats(),)],
    "__int__": lambda: [(floats(1),), (floats(),)],
    "__bool__": lambda: [(floats(1),), (floats(),)],
    "__index__": lambda: [(ints(1),), (ints(),)],
    "__complex__": lambda: [(floats(1),), (floats(),)],
    "__contains__": lambda: [(floats(3), 1.0)],
    "__format__": lambda: [(floats(), ".2f")],
    "bernoulli_": lambda: [(floats(2, 3),), (floats(2, 3), 0.5), (floats(2, 3), floats(2, 3))],
    "apply_": lambda: [(floats(2, 3), abs)],
    "map_": lambda: [(floats(2, 3), floats(2, 3), max)],
    "map2_": lambda: [(floats(2, 3), floats(2, 3), floats(2, 3), max)],
    "masked_scatter_": lambda: [(floats(2, 3), bools(2, 3), floats(6))],
    "new_tensor": lambda: [(floats(2, 3), [1.0])],
    "expand_as": lambda: [(floats(1, 3), floats(2, 3))],
    "view_as": lambda: [(floats(2, 3), floats(3, 2))],
    "reshape_as": lambda: [(floats(2, 3), floats(3, 2))],
    "resize_as_": lambda: [(floats(2, 3), floats(3, 2))],
    "set_": lambda: [(floats(2, 3), floats(3, 2))],
    "is_set_to": lambda: [(floats(2), floats(2))],
    "is_coalesced": lambda: [(sparse(2, 3),)],
    "__deepcopy__": lambda: [(floats(2, 3), {})],
    "coalesce": lambda: [(sparse(2, 3),)],
    "indices": lambda: [(sparse(2, 3).coalesce(),)],
    "values": lambda: [(sparse(2, 3).coalesce(),)],
    "_indices": lambda: [(sparse(2, 3),)],
    "_values": lambda: [(sparse(2, 3),)],
    "_nnz": lambda: [(sparse(2, 3),)],
    "sparse_mask": lambda: [(floats(2, 3), sparse(2, 3).coalesce())],
    "crow_indices": lambda: [(floats(2, 3).to_sparse_csr(),)],
    "col_indices": lambda: [(floats(2, 3).to_sparse_csr(),)],
    "ccol_indices": lambda: [(floats(2, 3).to_sparse_csc(),)],
    "row_indices": lambda: [(floats(2, 3).to_sparse_csc(),)],
    "to_sparse_bsr": lambda: [(floats(2, 4), (1, 2))],
    "to_sparse_bsc": lambda: [(floats(2, 4), (1, 2))],
    "int_repr": _quantized,
    "q_scale": _quantized,
    "q_zero_point": _quantized,
}

SAMPLES: dict[str, Callable[[], list[Arguments]]] = (
    _FUNCTIONS
    | {f"torch.{name}": made for name, made in _BOTH.items()}
    | {f"torch.Tensor.{name}": made for name, made in (_BOTH | _METHODS).items()}
)
"""Functions that make the positional arguments of sample calls, by canonical name."""


def calls(name: str) -> list[Arguments]:
    """Return the handwritten sample calls of the torch function ``name``, each as a tuple of positional arguments.

    The list is empty if there are none.
    """
    made = SAMPLES.get(name)
    return made() if made is not None else []
