"""Models of torch functions by hand: only for what a row of the semantics table cannot say."""

from __future__ import annotations

import devlint.interpreter.driver.assembly  # noqa: F401 - registers the models
from devlint.interpreter.state.library_models import find_call_model
from devlint.semantics.table import load_torch_table

TABLE = load_torch_table()
BY_HAND = {
    "made of Python values or files": "tensor as_tensor asarray scalar_tensor from_numpy frombuffer from_file load",
    "the state of the program": (
        "get_default_dtype get_default_device set_default_device set_default_tensor_type is_tensor autocast"
    ),
    "moved or cast": (
        "Tensor.to Tensor.cpu Tensor.cuda Tensor.xpu Tensor.ipu Tensor.type Tensor.type_as Tensor.pin_memory"
        " Tensor.float Tensor.double Tensor.half Tensor.bfloat16 Tensor.int Tensor.long Tensor.short Tensor.byte"
        " Tensor.char Tensor.bool Tensor.cfloat Tensor.cdouble"
    ),
    "grad, copies and what becomes of both": (
        "Tensor.detach Tensor.detach_ Tensor.clone Tensor.copy_ Tensor.requires_grad_ Tensor.retain_grad"
        " Tensor.backward"
    ),
    "read back as Python or NumPy values": "Tensor.numpy Tensor.__array__ Tensor.item Tensor.tolist",
    "sizes": "Tensor.size Tensor.dim Tensor.ndimension Tensor.numel Tensor.nelement Tensor.stride Tensor.element_size",
    "as many results as the arguments say": (
        "Tensor.split Tensor.chunk Tensor.unbind split chunk unbind broadcast_tensors meshgrid"
        " atleast_1d atleast_2d atleast_3d"
    ),
    "answers that the dtype gives": ("Tensor.is_floating_point Tensor.is_complex is_floating_point is_complex"),
    "objects with tensors inside": (
        "nn.utils.rnn.pack_padded_sequence nn.utils.rnn.pack_sequence nn.utils.rnn.pad_packed_sequence"
    ),
    "files": "save",
    "where a tensor is, as a number": "Tensor.get_device",
    "there only to raise": "Tensor.eig Tensor.symeig",
    "containers and wrappers of modules": (
        "nn.ModuleList nn.ModuleDict nn.ParameterList nn.ParameterDict nn.Sequential nn.DataParallel"
    ),
    "parameters as one vector": "nn.utils.parameters_to_vector nn.utils.vector_to_parameters",
    "hooks that autograd calls": "Tensor.register_hook Tensor.register_post_accumulate_grad_hook",
    "two operations of one name": "Tensor.view",
    "a row of many flags": "nn.functional.multi_head_attention_forward",
}
BY_THE_INTERPRETER = {
    "Tensor.__getitem__ Tensor.__setitem__": "index",
    "Tensor.index Tensor.chalf Tensor.mtia": "",
    "nn.Module nn.Container nn.RNNBase nn.RNNCellBase": "module",
}


def names(groups: dict[str, str]) -> set[str]:
    return {f"torch.{name}" for group in groups.values() for name in group.split()}


def modelled(name: str) -> bool:
    return find_call_model(name) is not None or find_call_model(name.removeprefix("torch.")) is not None


def test_no_other_row_has_a_model_written_by_hand() -> None:
    assert {name for name in TABLE if modelled(name)} == names(BY_HAND)


def test_every_row_marked_special_is_treated_by_hand() -> None:
    marked = {name for name in TABLE if TABLE.cells(name).get("special")}
    inside = {f"torch.{name}" for group in BY_THE_INTERPRETER for name in group.split()}
    assert marked <= names(BY_HAND) | inside
