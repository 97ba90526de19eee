"""Tests of what programs do around tensors: saving, copying, workers, threads, streams, random numbers, storages."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from devlint.runtime import NotEmulated, emulate, record
from devlint.runtime.patches.device_functions import OWN_GENERATOR_NOTE


def test_queries_answer_as_if_the_device_were_there() -> None:
    with emulate(devices=2):
        assert (torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device()) == (True, 2, 0)
        assert torch.accelerator.current_accelerator().type == "cuda"
        assert torch.cuda.get_device_name() and torch.cuda.get_device_capability()[0] >= 7
        with torch.cuda.device(1):
            assert torch.ones(1, device="cuda").get_device() == 1
        assert torch.ones(1).to(1).device == torch.device("cuda:1") == torch.device(1)
        assert torch.ones(1, device="cuda").type() == "torch.cuda.FloatTensor"
        assert torch.device("cuda") != torch.ones(1, device="cuda").device


def test_torch_accelerator_tells_the_emulated_device() -> None:
    with emulate(devices=2):
        accelerator = torch.accelerator.current_accelerator(check_available=True)
        assert torch.accelerator.is_available() and torch.accelerator.device_count() == 2
        assert torch.ones(1, device=accelerator).device == torch.device("cuda:0")
        with torch.accelerator.device_index(1):
            assert torch.accelerator.current_device_index() == torch.cuda.current_device() == 1
            assert torch.ones(1, device=accelerator).device == torch.device("cuda:1")
        torch.accelerator.set_device_index(1)
        assert torch.ones(1, device=accelerator.type).device == torch.device("cuda:1")
        assert torch.get_device_module() is torch.get_device_module(accelerator) is torch.cuda
        free, total = torch.accelerator.get_memory_info()
        assert 0 < free <= total
        assert torch.float16 in torch.accelerator.get_device_capability()["supported_dtypes"]
        torch.accelerator.empty_host_cache()


def test_memory_is_counted_while_storages_live(device: torch.device) -> None:
    before = torch.cuda.memory_allocated()
    kept = torch.zeros(1000, device=device)
    view = kept[10:]
    del kept
    assert torch.cuda.memory_allocated() == before + 4000
    del view
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() >= before + 4000


def test_state_dicts_are_saved_and_loaded(device: torch.device) -> None:
    model = nn.Linear(3, 2).to(device)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    for where, expected in ((None, "cuda"), ("cpu", "cpu"), ("cuda:0", "cuda"), (device, "cuda")):
        file.seek(0)
        loaded = torch.load(file, map_location=where)
        assert {value.device.type for value in loaded.values()} == {expected}
        assert torch.equal(loaded["weight"].cpu(), model.weight.cpu())
    assert copy.deepcopy(model).weight.device == device
    assert copy.deepcopy(model.weight.detach()).device == device
    assert pickle.loads(pickle.dumps(model.weight.detach())).device == device


def test_what_was_saved_on_cuda_does_not_load_without_it() -> None:
    file = io.BytesIO()
    with emulate():
        torch.save(torch.ones(2, device="cuda"), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        torch.load(file)


@pytest.mark.parametrize("dtype", [bool, int, float, complex])
def test_a_type_of_python_names_a_dtype(device: torch.device, dtype: type) -> None:
    there, here = torch.ones(3, device=device), torch.ones(3)
    expected = here.to(dtype).dtype
    assert {there.to(dtype).dtype, there.to(dtype=dtype).dtype, here.to(device, dtype).dtype} == {expected}
    assert there.to(dtype).device == device


def test_modules_move_what_is_registered(device: torch.device) -> None:
    model = nn.BatchNorm1d(3)
    model.plain = torch.zeros(3)
    parameter = model.weight
    assert model.cuda() is model
    assert model.weight is parameter and parameter.device == device
    assert model.running_mean.device == device and model.plain.device.type == "cpu"
    assert model.cpu().weight.device.type == "cpu"


def test_gradients_return_to_their_tensors_device(device: torch.device) -> None:
    leaf, scalar = torch.ones(3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    loss = (leaf.to(device) * scalar).sum()
    loss.backward()
    assert leaf.grad.device == leaf.device and scalar.grad.device == scalar.device
    assert leaf.grad.tolist() == [2.0] * 3 and scalar.grad.item() == 3.0
    target = torch.zeros(3, device=device)
    target.copy_(leaf * 2)
    target.sum().backward()
    assert leaf.grad.tolist() == [4.0] * 3
    moved = leaf.to(device)
    assert not moved.is_leaf and moved.grad_fn is not None


def test_double_backward_crosses_devices(device: torch.device) -> None:
    leaf = torch.tensor([2.0, 3.0], requires_grad=True)
    (first,) = torch.autograd.grad((leaf.to(device) ** 3).sum(), leaf, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), leaf)
    assert second.tolist() == [12.0, 18.0] and second.device.type == "cpu"


def test_the_default_device_and_what_ignores_it(device: torch.device) -> None:
    with torch.device("cuda"):
        assert torch.zeros(2).device == device and nn.Linear(2, 2).weight.device == device
        assert torch.as_tensor([1, 2]).device == device
        assert torch.from_numpy(np.zeros(2)).device.type == "cpu"
        with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
            list(DataLoader(TensorDataset(torch.zeros(4)), shuffle=True, generator=torch.Generator("cpu")))
    assert torch.zeros(2).device.type == "cpu"


def test_numpy_and_lists(device: torch.device) -> None:
    near = torch.arange(3, device=device)
    assert near.tolist() == [0, 1, 2] and near.cpu().numpy().tolist() == [0, 1, 2]
    assert near.numpy(force=True).tolist() == [0, 1, 2]
    for use in (np.asarray, lambda t: np.array([t, t]), lambda t: np.mean([t[0], t[1]])):
        with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
            use(near)
    with pytest.raises(NotEmulated):
        near.__dlpack__()
    assert "device='cuda:0'" in repr(near)


def test_random_numbers_follow_the_host_until_the_device_is_seeded(device: torch.device) -> None:
    torch.manual_seed(3)
    plain = torch.randn(2), torch.randn(2)
    torch.manual_seed(3)
    assert torch.equal(torch.randn(2), plain[0]) and torch.equal(torch.randn(2, device=device).cpu(), plain[1])
    torch.cuda.manual_seed(5)
    first = torch.rand(3, device=device)
    torch.rand(4)
    torch.cuda.manual_seed(5)
    assert torch.equal(first, torch.rand(3, device=device))
    state = torch.cuda.get_rng_state()
    drawn = torch.rand(3, device=device)
    torch.cuda.set_rng_state(state)
    assert torch.equal(drawn, torch.rand(3, device=device))
    generator = torch.Generator("cuda").manual_seed(1)
    assert isinstance(generator, torch.Generator) and isinstance(torch.default_generator, torch.Generator)
    assert generator.device == device
    assert torch.rand(2, device=device, generator=generator).device == device


def _drawn(device: str) -> list[torch.Tensor]:
    near = torch.randn(3, device=device), nn.functional.dropout(torch.ones(6, device=device)), torch.rand(2).to(device)
    return [tensor.cpu() for tensor in (torch.rand(2), *near, torch.rand(2))]


SEEDS: dict[str, Callable[[], object]] = {
    "all": lambda: (torch.manual_seed(3), torch.cuda.manual_seed_all(3)),
    "one": lambda: (torch.manual_seed(3), torch.cuda.manual_seed(3)),
    "device first": lambda: (torch.cuda.manual_seed_all(3), torch.manual_seed(3)),
    "another before": lambda: (torch.cuda.manual_seed(9), torch.manual_seed(3), torch.cuda.random.manual_seed_all(3)),
    "generator": lambda: (torch.random.default_generator.manual_seed(3), torch.cuda.manual_seed(3)),
}


@pytest.mark.parametrize("case", SEEDS)
def test_one_seed_for_all_gives_the_numbers_of_the_cpu(case: str) -> None:
    torch.manual_seed(3)
    plain = _drawn("cpu")
    with emulate():
        SEEDS[case]()
        emulated = _drawn("cuda")
    assert all(torch.equal(left, right) for left, right in zip(plain, emulated, strict=True))


def test_saved_generators_are_one_again(device: torch.device) -> None:
    torch.manual_seed(3)
    torch.cuda.manual_seed_all(3)
    host, near = torch.get_rng_state(), torch.cuda.get_rng_state_all()
    first = _drawn("cuda")
    for restore in (
        lambda: (torch.set_rng_state(host), torch.cuda.set_rng_state_all(near)),
        lambda: (torch.cuda.set_rng_state_all(near), torch.set_rng_state(host)),
    ):
        torch.cuda.manual_seed(8)
        restore()
        assert all(torch.equal(left, right) for left, right in zip(first, _drawn("cuda"), strict=True))


def test_another_seed_for_the_device_is_noted(device: torch.device) -> None:
    with record() as report:
        torch.manual_seed(3)
        torch.cuda.manual_seed_all(3)
        assert not report.recorder.notes
        torch.cuda.manual_seed_all(4)
    assert OWN_GENERATOR_NOTE in report.recorder.notes
    first = torch.rand(3, device=device)
    torch.cuda.manual_seed_all(4)
    assert torch.equal(first, torch.rand(3, device=device))


def test_the_default_tensor_type_is_that_of_torch_tensor_too() -> None:
    with emulate():
        assert torch.Tensor([1.0]).device.type == torch.Tensor(2, 3).device.type == "cpu"
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
        made = (torch.Tensor([1.0]), torch.Tensor(2, 3), torch.Tensor(), torch.zeros(2), torch.randn(2).new(3))
        assert {tensor.device for tensor in made} == {torch.device("cuda", 0)}
        assert (torch.Tensor([1.0]) + torch.ones(1)).tolist() == [2.0]
        assert nn.Parameter(torch.Tensor(2, 2)).is_cuda
        host = (torch.FloatTensor([1.0]), torch.from_numpy(np.ones(2)), torch.LongTensor([1]))
        assert {tensor.device.type for tensor in host} == {"cpu"}
        assert torch.Tensor(torch.ones(2, device="cpu")).device.type == "cpu"
        torch.set_default_tensor_type("torch.FloatTensor")
        assert torch.Tensor([1.0]).device.type == torch.zeros(1).device.type == "cpu"
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
    assert torch.Tensor([1.0]).device.type == torch.zeros(1).device.type == "cpu"


def test_data_parallel_modules_of_one_device_work(device: torch.device) -> None:
    for model in (nn.DataParallel(nn.Linear(3, 2).cuda()), nn.DataParallel(nn.Linear(3, 2)).cuda()):
        assert list(model.state_dict()) == ["module.weight", "module.bias"]
        x = torch.ones(4, 3, requires_grad=True)
        out = model(x)
        assert out.device == model(torch.ones(4, 3, device=device)).device == device
        assert torch.equal(out, model.module(x.to(device)))
        out.sum().backward()
        assert model.module.weight.grad.device == device and x.grad is not None and x.grad.device.type == "cpu"


def test_data_parallel_modules_of_two_devices_are_not_emulated() -> None:
    with emulate(devices=2), pytest.raises(NotEmulated, match="DataParallel on several devices"):
        nn.DataParallel(nn.Linear(2, 2).cuda())


def test_a_distributed_module_of_one_process_works(tmp_path: Path, forked: Callable[[Callable[[], Any]], Any]) -> None:
    def train() -> list[list[float]]:
        torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
        found = []
        for name in ("cpu", "cuda"):
            with emulate():
                torch.manual_seed(0)
                inner = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(name)
                model = nn.parallel.DistributedDataParallel(inner, device_ids=None if name == "cpu" else [0])
                optimizer = torch.optim.Adam(model.parameters())
                for _ in range(3):
                    optimizer.zero_grad()
                    model(torch.randn(5, 3, device="cpu").to(name)).square().sum().backward()
                    optimizer.step()
                assert {p.grad.device.type for p in model.parameters()} == {name}
                found.append([value for p in model.parameters() for value in p.flatten().tolist()])
        torch.distributed.destroy_process_group()
        return found

    plain, emulated = forked(train)
    assert plain == emulated


class OnDevice(Dataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.zeros(2, device="cuda")


class OnHost(OnDevice):
    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((2,), float(index))


def _from_workers(dataset: Dataset[Any], **options: Any) -> list[Any]:
    with emulate():
        torch.zeros(1, device="cuda")
        loader = DataLoader(dataset, batch_size=2, num_workers=1, **options)
        return [(batch.sum().item(), batch.is_pinned(), batch.cuda().device.type) for batch in loader]


def test_workers_cannot_use_the_device_after_a_fork(forked: Any) -> None:
    with pytest.raises(AssertionError, match="Cannot re-initialize CUDA in forked subprocess"):
        forked(lambda: _from_workers(OnDevice()))


def test_workers_deliver_host_batches_pinned_if_asked(forked: Any) -> None:
    assert forked(lambda: _from_workers(OnHost())) == [(2.0, False, "cuda"), (10.0, False, "cuda")]
    assert forked(lambda: _from_workers(OnHost(), pin_memory=True)) == [(2.0, True, "cuda"), (10.0, True, "cuda")]


def test_threads_are_emulated_too(device: torch.device) -> None:
    failures: list[str] = []

    def work() -> None:
        try:
            torch.ones(2, device="cuda") + torch.ones(2)
        except RuntimeError as error:
            failures.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures and "cuda:0 and cpu" in failures[0]


def test_streams_and_events(device: torch.device) -> None:
    stream = torch.cuda.Stream()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        start.record()
        torch.ones(3, device=device).sum()
        end.record()
    stream.wait_stream(torch.cuda.current_stream())
    torch.ones(1, device=device).record_stream(stream)
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0 and end.query()
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_torch_func_works_on_labelled_tensors(device: torch.device) -> None:
    x = torch.tensor([1.0, 2.0], device=device)
    assert torch.func.grad(lambda t: (t**2).sum())(x).tolist() == [2.0, 4.0]
    assert torch.func.jacrev(lambda t: t**2)(x).diagonal().tolist() == [2.0, 4.0]
    assert torch.func.hessian(lambda t: (t**3).sum())(x).diagonal().tolist() == [6.0, 12.0]
    assert torch.vmap(lambda t: t.to("cpu") * 2)(x).device.type == "cpu"


def test_legacy_types(device: torch.device) -> None:
    made = torch.cuda.FloatTensor(2, 3)
    assert made.shape == (2, 3) and made.device == device and isinstance(made, torch.cuda.FloatTensor)
    assert torch.ones(2).type("torch.cuda.HalfTensor").dtype is torch.float16
    assert not isinstance(torch.ones(2), torch.cuda.FloatTensor)


def test_compiled_functions_run_eagerly(device: torch.device) -> None:
    @torch.compile
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    assert double(torch.ones(2, device=device)).device == device


def test_nested_emulation_is_one(device: torch.device) -> None:
    with emulate() as inner:
        assert inner.device_count == 1
    assert torch.cuda.is_available()
    with pytest.raises(RuntimeError, match="already emulating"), emulate(devices=3):
        pass


def test_scripted_and_traced_functions(device: torch.device) -> None:
    scripted = torch.jit.script(_shifted)
    assert scripted(torch.ones(3, device=device)).device == device
    traced = torch.jit.trace(nn.Linear(3, 2).cuda(), torch.ones(1, 3, device=device))
    assert traced(torch.ones(1, 3, device=device)).device == device


def _shifted(x: torch.Tensor) -> torch.Tensor:
    return x + torch.zeros(3, device=x.device)


def _classes(x: torch.Tensor) -> torch.Tensor:
    return nn.functional.one_hot(x, 3)


def _spectrum(x: torch.Tensor) -> torch.Tensor:
    return torch.fft.rfft(x.float()).abs()


def _middle(x: torch.Tensor) -> torch.Tensor:
    return torch.quantile(x.float(), 0.5)


@pytest.mark.parametrize("function", [_classes, _spectrum, _middle])
def test_what_is_scripted_while_a_device_is_emulated(device: torch.device, function: Callable[..., Any]) -> None:
    numbers = torch.tensor([0, 1, 1], device=device)
    scripted = torch.jit.script(function)
    assert scripted(numbers).device == device
    assert torch.equal(scripted(numbers).cpu(), function(numbers.cpu()))


def test_losses_that_want_their_lengths_on_the_host(device: torch.device) -> None:
    scores = torch.randn(5, 2, 4, device=device).log_softmax(2)
    lengths = torch.tensor([5, 5]), torch.tensor([2, 2])
    assert nn.CTCLoss()(scores, torch.tensor([[1, 2], [1, 3]], device=device), *lengths).device == device


def test_packed_sequences_keep_their_batch_sizes_on_the_host(device: torch.device) -> None:
    data = torch.randn(2, 3, 2, device=device)
    packed = nn.utils.rnn.pack_padded_sequence(data, torch.tensor([3, 2]), batch_first=True)
    assert packed.batch_sizes.device.type == "cpu" and packed.data.device == device
    out, _ = nn.LSTM(2, 3, batch_first=True).cuda()(packed)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
    assert padded.device == device and lengths.device.type == "cpu"


@pytest.mark.parametrize("ordered", [True, False])
def test_padded_sequences_can_be_packed_again_with_their_lengths(device: torch.device, ordered: bool) -> None:
    given = torch.tensor([3, 2] if ordered else [2, 3])
    data = torch.randn(2, 3, 2, device=device)
    packed = nn.utils.rnn.pack_padded_sequence(data, given, batch_first=True, enforce_sorted=ordered)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    again = nn.utils.rnn.pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=ordered)
    assert again.data.device == device and lengths.device.type == "cpu" and lengths.tolist() == given.tolist()
    with pytest.raises(RuntimeError, match="same device"):
        torch.lt(torch.arange(2, device=device), lengths)
    with pytest.raises(RuntimeError, match="'lengths' argument should be a 1D CPU int64 tensor"):
        nn.utils.rnn.pack_padded_sequence(padded, lengths.to(device), batch_first=True, enforce_sorted=ordered)


def test_nested_tensors_live_where_their_parts_do(device: torch.device) -> None:
    near = torch.nested.nested_tensor([torch.ones(2, device=device), torch.ones(3, device=device)])
    assert near.device == device and (near * 2).device == device
    assert torch.nested.nested_tensor([torch.ones(2)], device="cuda").device == device
    assert torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged).device.type == "cpu"
