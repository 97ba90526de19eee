"""The relevance filter: names of which code must contain one to affect the placement of tensors.

Code that contains none of these names is analysed only when other code calls it.
"""

from __future__ import annotations

from typing import Final

TENSOR_RELATED_NAMES: Final = frozenset(
    "to cuda cpu half float double bfloat16 type type_as device numpy from_numpy tensor as_tensor zeros ones"
    " full empty eye"
    " arange linspace rand randn randint randperm normal tril_indices triu_indices Tensor FloatTensor"
    " LongTensor BoolTensor"
    " pin_memory time perf_counter is_cuda lru_cache cache meshgrid hann_window float64 detach one_hot reveal_placement"
    " pack_padded_sequence DataLoader register_buffer Parameter xpu logspace bartlett_window hamming_window"
    " scalar_tensor autocast Generator load set_default_device accelerator mps mtia"
    " init_process_group new_group GradScaler".split()
)
"""Names of which code must contain one to create, move, cast or read a tensor.

Code without any of them is only analysed when other code calls it.
"""
