"""torch's errors about the dtypes of indices and masks are told from others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from devlint.runtime.error_reports import code_for

X = torch.zeros(4)
CALLS: dict[str, Callable[[], torch.Tensor]] = {
    "subscript": lambda: X[X],
    "embedding": lambda: F.embedding(X, torch.zeros(4, 2)),
    "gather": lambda: X.gather(0, X),
    "scatter": lambda: X.scatter(0, X, 1.0),
    "index_select": lambda: X.index_select(0, X),
    "index_add": lambda: X.index_add(0, X, X),
    "index_copy": lambda: X.index_copy(0, X, X),
    "index_fill": lambda: X.index_fill(0, X, 1.0),
    "take": lambda: X.take(X),
    "take_along_dim": lambda: X.take_along_dim(X),
    "one_hot": lambda: F.one_hot(X),
    "tensor_split": lambda: X.tensor_split(X)[0],
    "masked_fill": lambda: X.masked_fill(X, 1.0),
    "masked_select": lambda: X.masked_select(X),
    "where": lambda: torch.where(X, X, X),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_index_of_a_wrong_dtype(call: Callable[[], torch.Tensor]) -> None:
    with pytest.raises((RuntimeError, IndexError)) as raised:
        call()
    assert code_for(str(raised.value)) == "DEV305"
