"""The weight of an operation: whether it computes for long on an accelerator, or takes a moment beside such work."""

from __future__ import annotations

import re
from typing import Final

from devlint.semantics.row import Row

_HEAVY: Final = re.compile(
    r"""_{0,2}(?:
        .*(?:conv(?:olution|_|\d)|attention|matmul|pool\d|grid_sampl|_norm$|lstm|gru|rnn).*
        | \w*(?:mm|mv) | backward | einsum | tensordot | multi_dot | inner | bilinear | linear | [cp]dist
        | (?:cholesky|lu|qr|svd|eig|orm|org|geq)\w* | \w*solve\w* | p?inv\w* | tensorinv | (?:slog|log)?det | lobpcg
        | symeig | l?stsq | pca_lowrank | matrix_(?:exp|power|rank) | cond | ldl_\w* | householder_product
        | i?stft | i?[hr]?fft[2n]? | ctc_loss | interpolate | upsample\w* | (?:un)?fold | grad
        | module | sequential | dataparallel | container | rnn(?:cell)?base
    )_{0,2}""",
    re.VERBOSE,
)
"""The names, without the package, of torch's operations that compute for long: products, convolutions and the like."""

_QUICK_RANKS: Final = frozenset(
    {"broadcast", "joined", "reduce", "reduction", "shape", "shape:dims", "squeeze", "zero"}
)
"""The values of `Row.rank` for elementwise operations, reductions and copies, beside those that begin with `same:`."""


def is_heavy(row: Row) -> bool:
    """Return whether an operation is a product, a module or the like, and no elementwise operation.

    What has the shape of its argument is elementwise, or sorts or sums along a dimension: products have another shape.
    Of torch's other functions the names tell; those of other libraries are taken to be heavy.
    """
    if row.view or row.may_view:
        return False
    if row.module is not None:
        return True
    if row.rank in _QUICK_RANKS or row.rank.startswith("same:"):
        return False
    return row.assumed or _HEAVY.fullmatch(row.name.rpartition(".")[2].lower()) is not None
