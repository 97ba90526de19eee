"""What torch does where intuition fails: device and dtype rules that decide between a finding and silence."""

from __future__ import annotations

import pytest

from devlint.semantics.table import Row, load_numpy_table, load_torch_table

FLOATS = {"float16", "bfloat16", "float32", "float64"}


def row(name: str) -> Row:
    found = load_torch_table().find(name)
    assert found is not None, name
    return found


@pytest.mark.parametrize("name", ["torch.add", "torch.Tensor.__mul__", "torch.maximum"])
def test_tensor_iterator_lets_one_host_scalar_through(name: str) -> None:
    assert row(name).scalars == 1


@pytest.mark.parametrize(("name", "operand"), [("torch.lerp", "weight"), ("torch.addcmul", "tensor2")])
def test_some_kernels_let_one_certain_operand_through(name: str, operand: str) -> None:
    assert row(name).scalars == f"only:{operand}"


def test_where_lets_any_number_of_host_scalars_through() -> None:
    assert row("torch.where").scalars == "many"
    assert row("torch.where").same == ("condition", "input", "other")


@pytest.mark.parametrize(
    "name", ["torch.clamp", "torch.nextafter", "torch.matmul", "torch.gather", "torch.cat", "torch.Tensor.put_"]
)
def test_the_generated_wrapper_lets_no_host_scalar_through(name: str) -> None:
    assert row(name).scalars == 0


def test_a_limit_given_to_clamp_as_a_tensor_must_share_the_device() -> None:
    assert row("torch.clamp").same == ("input", "min", "max")


def test_keyword_only_tensors_are_checked_by_the_kernel() -> None:
    assert not row("torch.searchsorted").free
    assert row("torch.searchsorted").same == ("sorted_sequence", "input", "sorter")
    assert row("torch.segment_reduce").same == ("data", "lengths", "indices", "offsets")


@pytest.mark.parametrize("name", ["torch.index_put", "torch.Tensor.index_put_"])
def test_what_is_written_to_takes_indices_from_anywhere(name: str) -> None:
    assert row(name).free == {"indices"}
    assert row(name).match == ((row(name).params[0], "values"),)


def test_copy_crosses_devices_and_casts() -> None:
    copy = row("torch.Tensor.copy_")
    assert copy.free == {"src"}
    assert copy.dtype == "same:self"
    assert not copy.match
    assert copy.mutates == {"self"}


def test_a_fill_value_may_be_a_host_scalar_and_the_mask_may_not() -> None:
    fill = row("torch.Tensor.masked_fill_")
    assert fill.index == {"value"}
    assert fill.same == ("self", "mask")
    assert fill.scalars == 0
    assert fill.index_dtypes["mask"] == {"bool"}


def test_cat_promotes_and_takes_no_host_scalar() -> None:
    assert row("torch.cat").dtype == "promote"
    assert row("torch.cat").sequences == {"tensors"}


def test_embedding_wants_integers_beside_the_weights_and_returns_their_dtype() -> None:
    embedding = row("torch.nn.functional.embedding")
    assert embedding.scalars == 0
    assert embedding.dtype == "same:weight"
    assert embedding.index_dtypes["input"] == {"int32", "int64"}
    assert row("torch.nn.Embedding").dtype == "same:parameters"
    assert row("torch.nn.Embedding").same == ("input", "parameters")


@pytest.mark.parametrize("name", ["torch.nn.functional.conv2d", "torch.nn.functional.linear"])
def test_layers_do_not_promote(name: str) -> None:
    assert row(name).match == (("input", "weight", "bias"),)


@pytest.mark.parametrize("name", ["Linear", "Conv2d", "Bilinear", "PReLU"])
def test_layers_want_their_inputs_in_the_dtype_of_their_parameters(name: str) -> None:
    found = row(f"torch.nn.{name}")
    assert "parameters" in found.same
    assert any("parameters" in group for group in found.match)


@pytest.mark.parametrize("name", ["LayerNorm", "GroupNorm", "BatchNorm2d"])
def test_normalizations_take_half_beside_single_precision_weights(name: str) -> None:
    assert row(f"torch.nn.{name}").match_or_half == (("input", "parameters"),)
    assert not row(f"torch.nn.{name}").match


def test_the_state_of_a_recurrent_layer_counts_as_its_input() -> None:
    lstm = row("torch.nn.LSTM")
    assert lstm.same == ("input", "hx", "parameters")
    assert lstm.match == (("input", "hx", "parameters"),)
    assert lstm.returns == "nested:output,(h_n,c_n)"


def test_classes_are_int64_or_uint8_and_may_be_probabilities() -> None:
    targets = row("torch.nn.functional.cross_entropy").target_dtypes["target"]
    assert targets == FLOATS | {"int64", "uint8"}
    assert row("torch.nn.CrossEntropyLoss").target_dtypes["target"] == targets
    assert row("torch.nn.functional.nll_loss").target_dtypes["target"] == {"int64", "uint8"}


def test_the_weight_of_a_loss_moves_with_the_loss() -> None:
    module = row("torch.nn.CrossEntropyLoss").module
    assert module is not None
    assert module.buffers == "arg:weight"
    assert row("torch.nn.functional.cross_entropy").same == ("input", "target", "weight")


def test_regression_losses_promote() -> None:
    assert not row("torch.nn.functional.mse_loss").match
    assert "int64" in row("torch.nn.functional.l1_loss").target_dtypes["target"]


def test_binary_cross_entropy_wants_floating_targets() -> None:
    assert row("torch.nn.functional.binary_cross_entropy").match == (("input", "target"),)
    for name in ("torch.nn.functional.binary_cross_entropy_with_logits", "torch.nn.BCEWithLogitsLoss"):
        assert row(name).target_dtypes["target"] == FLOATS


def test_lengths_stay_on_the_host() -> None:
    assert row("torch.nn.utils.rnn.pack_padded_sequence").host == {"lengths"}
    assert row("torch.tensor_split").host == {"tensor_indices_or_sections"}


def test_normal_takes_its_device_from_its_means() -> None:
    assert row("torch.normal").device == "kwarg-or:mean,std"
    assert row("torch.normal").random


def test_random_functions_take_a_generator() -> None:
    assert "generator" in row("torch.bernoulli").params
    assert row("torch.bernoulli").random
    assert row("torch.Tensor.bernoulli_").free == {"p"}


def test_templates_decide_the_device_of_what_is_made_from_them() -> None:
    assert row("torch.zeros_like").device == "kwarg-or:input"
    assert row("torch.Tensor.new_zeros").device == "kwarg-or:self"
    assert not row("torch.zeros_like").same


def test_factories_use_the_default_device_unless_told() -> None:
    for name in ("zeros", "rand", "arange", "eye", "linspace", "tensor", "full", "randint"):
        assert row(f"torch.{name}").factory, name
        assert row(f"torch.{name}").device == "kwarg", name
    assert row("torch.from_numpy").device == "host"


def test_the_form_of_the_result_depends_on_the_arguments() -> None:
    assert row("torch.max").returns == "tensor"
    assert row("torch.max").returns_if["dim"] == "tuple:values,indices"
    assert row("torch.Tensor.sort").returns == "tuple:values,indices"
    assert row("torch.nn.functional.max_pool2d").returns == "tensor"


def test_reading_back_waits_for_the_accelerator() -> None:
    for name in ("item", "tolist", "nonzero", "__bool__", "__float__", "unique", "masked_select"):
        assert row(f"torch.Tensor.{name}").sync == "always", name
    for name in ("add", "sum", "any", "clone"):
        assert not row(f"torch.Tensor.{name}").sync, name


def test_what_shares_storage() -> None:
    assert row("torch.Tensor.view").view == "self"
    assert row("torch.Tensor.reshape").may_view == "self"
    assert row("torch.Tensor.contiguous").may_view == "self"
    assert not row("torch.Tensor.clone").view


def test_what_never_requires_grad() -> None:
    assert row("torch.argmax").grad == "none"
    assert row("torch.Tensor.__eq__").grad == "none"
    assert row("torch.Tensor.detach").grad == "detach"
    assert not row("torch.Tensor.mul").grad


def test_integers_become_floats_in_division_unless_rounded() -> None:
    assert row("torch.div").dtype == "float"
    assert row("torch.div").dtype_if["rounding_mode"] == "promote"
    assert row("torch.sum").dtype == "sum"


def test_numpy_makes_float64_where_torch_makes_float32() -> None:
    table = load_numpy_table()
    for name in ("random.rand", "random.randn", "zeros", "linspace", "loadtxt"):
        found = table.find(f"numpy.{name}")
        assert found is not None
        assert found.dtype in ("float64", "kwarg:float64"), name
    mean = table.method("mean") or table.find("numpy.ndarray.mean")
    assert mean is not None
    assert mean.dtype == "float"
