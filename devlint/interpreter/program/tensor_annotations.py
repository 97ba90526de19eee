"""Annotations that say that a value is one tensor: `Tensor`, and those that add a dtype and a shape to it."""

from __future__ import annotations

import libcst as cst

from devlint.domain.torch_names import SHAPED_ANNOTATIONS, TENSOR_ANNOTATIONS
from devlint.syntax.tree_walk import dotted_name


def is_tensor_annotation(node: cst.BaseExpression) -> bool:
    """Return whether an annotation names a tensor class: `Tensor`, or `Float[Tensor, "batch 3"]`."""
    match node:
        case cst.Subscript(value=shaped, slice=[cst.SubscriptElement(slice=cst.Index(value=inner)), _, *_]):
            return (dotted_name(shaped) or "").rpartition(".")[2] in SHAPED_ANNOTATIONS and is_tensor_annotation(inner)
    return dotted_name(node) in TENSOR_ANNOTATIONS
