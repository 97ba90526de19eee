"""Annotations that say that a value is one tensor: `Tensor`, and those that add a dtype and a shape to it."""

from __future__ import annotations

import libcst as cst

from devlint.domain.torch_names import NUMBER_TYPES, SHAPED_ANNOTATIONS, TENSOR_ANNOTATIONS
from devlint.syntax.tree_walk import dotted_name


def is_tensor_annotation(node: cst.BaseExpression) -> bool:
    """Return whether an annotation says that a value is a tensor: `Tensor`, `Float[Tensor, "b 3"]`, `float["b 3"]`."""
    match node:
        case cst.Subscript() if is_shape_of_numbers(node):
            return True
        case cst.Subscript(value=shaped, slice=[cst.SubscriptElement(slice=cst.Index(value=inner)), _, *_]):
            return (dotted_name(shaped) or "").rpartition(".")[2] in SHAPED_ANNOTATIONS and is_tensor_annotation(inner)
    return dotted_name(node) in TENSOR_ANNOTATIONS


def is_shape_of_numbers(node: cst.CSTNode) -> bool:
    """Return whether an annotation gives the dimensions of a tensor and the kind of its elements: `float["b n"]`."""
    match node:
        case cst.Subscript(
            value=cst.Name(value=kind), slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString()))]
        ):
            return kind in NUMBER_TYPES or kind in SHAPED_ANNOTATIONS
    return False
