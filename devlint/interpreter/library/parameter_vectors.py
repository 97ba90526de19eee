"""Models of the functions that make one vector of parameters, and that fill parameters from one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from devlint.domain.device import KnownDevice
from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.objects import ParameterGroup
from devlint.domain.placement import UNKNOWN_PLACEMENT, placement_cases
from devlint.domain.value import NONE, AllocationSite, Rank, Tensor, Value, as_tensor
from devlint.interpreter.library.table_calls import call_by_table
from devlint.interpreter.objects.parameters import replace_parameter_data
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("torch.nn.utils.parameters_to_vector", "torch.nn.utils.convert_parameters.parameters_to_vector")
def parameters_to_vector(frame: Frame, call: LibraryCall) -> Value:
    """Model `parameters_to_vector(parameters)`: a vector where the parameters are, of their dtype."""
    result, given = call_by_table(frame, call), call.arguments.get("parameters", 0)
    tensor = as_tensor(frame.iterate(given.value, given.node).any) if given is not None else None
    return result if tensor is None else replace(frame.copied_result(tensor), rank=Rank.SOME)


@models_call("torch.nn.utils.vector_to_parameters", "torch.nn.utils.convert_parameters.vector_to_parameters")
def vector_to_parameters(frame: Frame, call: LibraryCall) -> Value:
    """Model `vector_to_parameters(vec, parameters)`: each parameter gets the device and the dtype of the vector.

    They are unknown where the vector's are the caller's choice, who may have made it of these parameters.
    """
    call_by_table(frame, call)
    vector = as_tensor(call.arguments.value("vec", 0) or NONE)
    data = frame.resolve(vector if vector is not None else Tensor())
    known = all(isinstance(leaf.device, KnownDevice) for _, leaf in placement_cases(data.placement))
    placement = data.placement if known else UNKNOWN_PLACEMENT
    dtype = data.dtype if data.dtype.name is not None else UNKNOWN_DTYPE
    for address in _addresses(frame, call.arguments.get("parameters", 1)):
        replace_parameter_data(frame, address, placement, dtype)
    return NONE


def _addresses(frame: Frame, parameters: Argument | None) -> Iterator[AllocationSite]:
    """Yield where the heap keeps each of the parameters over which an argument runs."""
    if parameters is None:
        return
    found = frame.iterate(parameters.value, parameters.node)
    for one in found.items or (found.any,):
        if isinstance(one, Tensor) and one.cell is not None:
            held = frame.get(one.cell)
            yield from held.members if isinstance(held, ParameterGroup) else (one.cell,)
