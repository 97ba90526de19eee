"""Evidence, from how surrounding code uses an expression, that the expression is a tensor, an array or a module."""

from __future__ import annotations

import libcst as cst

from devlint.interpreter.objects.class_hierarchy import defined_class, definition_frame, find_method, is_module_class
from devlint.interpreter.program.usage_evidence import (
    ARRAY_LIKE,
    EVIDENCE_BY_CALL,
    OF_OTHERS_TOO,
    UsageEvidence,
    is_tensor_method,
)
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name


def usage_evidence_for(frame: Frame, node: cst.BaseExpression) -> tuple[str, UsageEvidence] | None:
    """Return the dotted name of an expression, and the evidence on how the code around the expression uses names.

    The code is the function, class or module around the expression; for `self.x` in a method, it is the whole class.
    None for an expression without a dotted name.
    """
    name = dotted_name(node)
    if name is None:
        return None
    function = frame.function
    if name.startswith("self.") and function is not None and function.owner is not None:
        return name, function.owner.evidence
    return name, function.evidence if function is not None else frame.module.evidence


def looks_like_tensor(frame: Frame, node: cst.BaseExpression, *, array_like: bool = True) -> bool:
    """Return whether the surrounding code uses an expression in a way that only a tensor allows.

    With `array_like`, uses that are valid for NumPy arrays as well count too.
    """
    found = usage_evidence_for(frame, node)
    if found is None or not is_tensor_by_uses(frame, *found, array_like=array_like):
        return False
    name, evidence = found
    return not (evidence.is_shown_by_calls_alone(name) and _is_annotated_otherwise(frame, node))


def is_tensor_by_uses(frame: Frame, name: str, evidence: UsageEvidence, *, array_like: bool) -> bool:
    """Return whether code uses a name as only a tensor can be used, by the evidence on its uses.

    Methods that objects of other libraries have as well (`detach`, `view`) show no tensor where the code also reads
    attributes of the name that a tensor lacks.
    """
    if not evidence.is_tensor(name, array_like=array_like):
        return False
    return not (evidence.is_shown_by_calls_alone(name) and _reads_others(frame, name, evidence))


def looks_like_module(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether the surrounding code uses an expression in a way that only an `nn.Module` allows."""
    found = usage_evidence_for(frame, node)
    return found is not None and found[1].is_module(found[0])


def calls_tensor(frame: Frame, node: cst.CSTNode, method: str, receiver: cst.BaseExpression) -> bool:
    """Return whether a call of a method shows that the object it is called on is a tensor.

    Other objects have some methods as well, and then attributes that a tensor lacks (`batch.detach()`, `batch.graph`).
    Modules are frozen by a method of the same name: `net.requires_grad_(False)`, `make().eval().requires_grad_(False)`.
    """
    if not is_tensor_method(method, node, is_statement=frame.discarded_expression is node):
        return False
    if method in EVIDENCE_BY_CALL and (
        has_other_attributes(frame, receiver) or _is_annotated_otherwise(frame, receiver)
    ):
        return False
    return method not in OF_OTHERS_TOO or not (looks_like_module(frame, receiver) or _returns_module(receiver))


def _is_annotated_otherwise(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether the annotation of a parameter names a class, and none that may be that of tensors."""
    if frame.function is None or not isinstance(node, cst.Name):
        return False
    names = frame.function.annotation_last_names(node.value) - {"Optional", "Union", "None"}
    return bool(names) and not any(one.endswith(("Tensor", "Parameter", "Variable", "Any", "object")) for one in names)


def has_method_of_its_own(frame: Frame, node: cst.BaseExpression, method: str) -> bool:
    """Return whether the annotation of a parameter names a class of the program that defines a method itself."""
    if frame.function is None or not isinstance(node, cst.Name):
        return False
    said = next((one.annotation for one in frame.function.parameters if one.name == node.value), None)
    if said is None or dotted_name(said) is None:
        return False
    cls = defined_class(definition_frame(frame, frame.function).evaluate(said))
    return cls is not None and not is_module_class(frame, cls) and find_method(frame, cls, method) is not None


def _returns_module(node: cst.BaseExpression) -> bool:
    """Return whether an expression calls a method of modules that returns the module."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="eval" | "train" | "apply"))):
            return True
    return False


def is_moved_tensor(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether an expression that the program moves is used around as only a tensor can be, and no module."""
    found = usage_evidence_for(frame, node)
    return found is not None and found[1].is_moved_tensor(found[0]) and not has_other_attributes(frame, node)


def compared_tensor(frame: Frame, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return where a variable is passed to what is called a loss, so that it is a tensor rather than a module."""
    found = usage_evidence_for(frame, node) if isinstance(node, cst.Name) else None
    return found[1].compared_at(found[0]) if found is not None and not has_other_attributes(frame, node) else None


def has_other_attributes(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether the surrounding code reads attributes of an expression that a tensor lacks (`graph.ndata`)."""
    found = usage_evidence_for(frame, node)
    if found is None:
        return False
    return _reads_others(frame, *found)


def _reads_others(frame: Frame, name: str, evidence: UsageEvidence) -> bool:
    """Return whether code reads attributes of a name that a tensor lacks."""
    return any(tensors_lack(frame, one) for one in evidence.other_attributes.get(name, ()))


def tensors_lack(frame: Frame, attribute: str) -> bool:
    """Return whether no tensor has an attribute: the semantics table knows none of its name, nor do arrays."""
    return attribute not in ARRAY_LIKE and frame.analysis.table.method(attribute) is None


def has_module_members(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether the surrounding code uses attributes of an expression that only an `nn.Module` has (`.eval`)."""
    found = usage_evidence_for(frame, node)
    return found is not None and found[1].has_module_members(found[0])
