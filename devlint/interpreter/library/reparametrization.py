"""Models of torch functions that change how a module computes its parameters, and return the module itself."""

from __future__ import annotations

from devlint.domain.join import join
from devlint.domain.objects import Registration
from devlint.domain.value import UNKNOWN, Ref, Value
from devlint.interpreter.objects.plain_attributes import mark_as_registered
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call(
    "torch.nn.utils.weight_norm",
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.remove_weight_norm",
    "torch.nn.utils.remove_spectral_norm",
    "torch.nn.utils.weight_norm.weight_norm",
    "torch.nn.utils.weight_norm.remove_weight_norm",
    "torch.nn.utils.spectral_norm.spectral_norm",
    "torch.nn.utils.spectral_norm.remove_spectral_norm",
    "torch.nn.utils.parametrizations.orthogonal",
    "torch.nn.utils.parametrizations.spectral_norm",
    "torch.nn.utils.parametrizations.weight_norm",
    "torch.nn.utils.parametrize.remove_parametrizations",
    "torch.nn.utils.prune.custom_from_mask",
    "torch.nn.utils.prune.identity",
    "torch.nn.utils.prune.l1_unstructured",
    "torch.nn.utils.prune.ln_structured",
    "torch.nn.utils.prune.random_structured",
    "torch.nn.utils.prune.random_unstructured",
    "torch.nn.utils.prune.remove",
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
)
def same_module(frame: Frame, call: LibraryCall) -> Value:
    """Model `weight_norm(module)`: the module itself, whose new parameters and buffers are where its others are."""
    return call.arguments.value("module", 0) or UNKNOWN


@models_call("torch.nn.utils.parametrize.register_parametrization")
def register_parametrization(frame: Frame, call: LibraryCall) -> Value:
    """Model `register_parametrization(module, "weight", p)`: the module itself, which now moves `p` with it."""
    module, part = call.arguments.value("module", 0) or UNKNOWN, call.arguments.value("parametrization", 2)
    thing = frame.instance(module)
    if thing is not None and isinstance(module, Ref) and part is not None:
        mark_as_registered(frame, part)
        parts = join(part, thing.attributes.get("parametrizations", part))
        frame.put(module.address, thing.with_attribute("parametrizations", parts, Registration.MODULE))
    return module
