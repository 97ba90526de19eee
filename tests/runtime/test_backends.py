"""Tests of the emulated accelerators other than CUDA: what runs on each, and what stops there with torch's words."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from devlint.runtime import emulate, record  # noqa: E402
from devlint.runtime.backends import BACKENDS  # noqa: E402

OTHERS = ("xpu", "mps", "npu")
"""The emulated device types that are not CUDA."""
NO_CUDA = "Torch not compiled with CUDA enabled"
Forked = Callable[[Callable[[], Any]], Any]


def on(kind: str, forked: Forked, work: Callable[[], Any], devices: int = 1) -> Any:
    """Return the result of `work` with a device type emulated, in a child: the name npu stays in its process."""

    def child() -> Any:
        with emulate(devices, kind):
            return work()

    return forked(child)


def raised(work: Callable[[], Any]) -> str:
    """Return the type and the first line of the error that `work` raises, or what it returned."""
    try:
        return f"returned {work()}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def train(device: Any, *, scaled: bool = False) -> tuple[list[float], list[bytes]]:
    """Return the losses and the final parameters of a small training on a device."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Linear(24, 3)
    )
    model = model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler(torch.device(device).type, enabled=scaled)
    losses = []
    for _ in range(4):
        batch, target = torch.randn(6, 2, 8).to(device), torch.randint(3, (6,)).to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses, [bytes(p.detach().cpu().numpy().tobytes()) for p in model.parameters()]


@pytest.mark.parametrize("kind", BACKENDS)
@pytest.mark.parametrize("scaled", [False, True])
def test_a_training_computes_what_it_computes_on_the_host(kind: str, scaled: bool, forked: Forked) -> None:
    expected = forked(lambda: train("cpu", scaled=scaled))
    assert on(kind, forked, lambda: train(torch.accelerator.current_accelerator(), scaled=scaled)) == expected


@pytest.mark.parametrize("kind", OTHERS)
def test_cuda_is_not_there(kind: str, forked: Forked) -> None:
    calls: dict[str, tuple[Callable[[], Any], str]] = {
        "available": (lambda: torch.cuda.is_available(), "returned False"),
        "count": (lambda: torch.cuda.device_count(), "returned 0"),
        "tensor": (lambda: torch.ones(1).cuda(), f"AssertionError: {NO_CUDA}"),
        "tensor by index": (lambda: torch.ones(1).cuda(0), f"AssertionError: {NO_CUDA}"),
        "module": (lambda: nn.Linear(1, 1).cuda(), f"AssertionError: {NO_CUDA}"),
        "to": (lambda: torch.ones(1).to("cuda"), f"AssertionError: {NO_CUDA}"),
        "module to": (lambda: nn.Linear(1, 1).to("cuda:0"), f"AssertionError: {NO_CUDA}"),
        "factory": (lambda: torch.zeros(2, device="cuda"), f"AssertionError: {NO_CUDA}"),
        "synchronize": (lambda: torch.cuda.synchronize(), f"AssertionError: {NO_CUDA}"),
        "current device": (lambda: torch.cuda.current_device(), f"AssertionError: {NO_CUDA}"),
        "seed": (lambda: torch.cuda.manual_seed_all(1), "returned None"),
        "memory": (lambda: torch.cuda.memory_allocated(), "returned 0"),
        "parameters moved by nothing": (lambda: len(list(nn.ReLU().cuda().parameters())), "returned 0"),
    }
    assert on(kind, forked, lambda: {name: raised(work) for name, (work, _) in calls.items()}) == {
        name: words for name, (_, words) in calls.items()
    }


def test_the_other_backends_are_not_there_while_cuda_is_emulated() -> None:
    with emulate():
        assert torch.cuda.is_available() and not torch.xpu.is_available() and not torch.backends.mps.is_available()
        assert raised(lambda: torch.ones(1).to("xpu")) == "AssertionError: Torch not compiled with XPU enabled"
        assert raised(lambda: torch.ones(1).xpu()) == "AssertionError: Torch not compiled with XPU enabled"
        assert raised(lambda: torch.ones(1).to("mps")) == (
            "RuntimeError: PyTorch is not linked with support for mps devices"
        )


def test_every_patch_is_undone(forked: Forked) -> None:
    def attributes() -> dict[str, Any]:
        owners = (torch, torch.cuda, torch.xpu, torch.mps, torch.accelerator, torch.Tensor, torch.nn.Module)
        return {f"{owner.__name__}.{name}": id(value) for owner in owners for name, value in vars(owner).items()}

    def child() -> list[str]:
        with emulate(kind="npu"):
            pass  # what torch itself adds on first use is there now
        before = attributes()
        for kind in BACKENDS:
            with emulate(kind=kind):
                pass
        after = attributes()
        return [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]

    assert forked(child) == []


@pytest.mark.parametrize("kind", BACKENDS)
def test_torch_answers_for_the_emulated_accelerator(kind: str, forked: Forked) -> None:
    def work() -> None:
        assert torch.accelerator.is_available() and torch.accelerator.device_count() == 1
        device = torch.accelerator.current_accelerator()
        assert device == torch.device(kind)
        module = torch.get_device_module()
        assert module is getattr(torch, kind) is torch.get_device_module(kind) is torch.get_device_module(device)
        assert module.is_available() and module.device_count() == 1
        module.synchronize()
        torch.accelerator.synchronize()
        before = torch.accelerator.memory_allocated()
        x = torch.ones(3, device=device)
        assert x.device == torch.device(kind, 0) and getattr(x, f"is_{kind}") and not x.is_cpu
        assert torch.accelerator.memory_allocated() - before == 12
        assert repr(x) == f"tensor([1., 1., 1.], device='{kind}:0')"
        with torch.device(device):
            assert torch.zeros(1).device.type == kind
        torch.set_default_device(device)
        assert torch.zeros(1).device.type == kind
        torch.set_default_device(None)
        start, end = (torch.Event(device, enable_timing=True) for _ in range(2))
        start.record()
        stream = torch.Stream(device)
        with stream:
            x.sum()
        torch.accelerator.current_stream().wait_stream(stream)
        end.record()
        end.synchronize()
        assert start.elapsed_time(end) >= 0
        generator = torch.Generator(device=device).manual_seed(5)
        assert generator.device.type == kind
        drawn = torch.randn(3, device=device, generator=generator)
        assert torch.equal(drawn.cpu(), torch.randn(3, generator=torch.Generator().manual_seed(5)))
        module.manual_seed(7)
        state = module.get_rng_state()
        first = torch.rand(2, device=device)
        module.set_rng_state(state)
        assert torch.equal(first, torch.rand(2, device=device))

    on(kind, forked, work)


@pytest.mark.parametrize(("kind", "backend"), [("cuda", "nccl"), ("xpu", "xccl"), ("mps", "gloo"), ("npu", "hccl")])
def test_collectives_have_the_default_backend_of_the_device(kind: str, backend: str, forked: Forked) -> None:
    choose = getattr(torch.distributed, "get_default_backend_for_device", None)
    if choose is None:
        pytest.skip("this torch does not choose a backend")
    assert on(kind, forked, lambda: choose(kind)) == backend


@pytest.mark.parametrize("kind", ["cuda", "xpu", "npu"])
def test_recomputation_and_forked_generators_know_the_device(kind: str, forked: Forked) -> None:
    def work() -> None:
        module = torch.get_device_module()
        module.manual_seed(3)
        block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).to(kind)
        x = torch.rand(2, 4, device=kind, requires_grad=True)
        state = module.get_rng_state()
        (expected,) = torch.autograd.grad(block(x).sum(), x)
        module.set_rng_state(state)
        again = checkpoint(block, x, use_reentrant=False)
        torch.rand(5, device=kind)
        assert torch.equal(torch.autograd.grad(again.sum(), x)[0], expected)
        with torch.random.fork_rng(devices=[0], device_type=kind):
            first = torch.rand(2, device=kind)
        assert torch.equal(first, torch.rand(2, device=kind))

    on(kind, forked, work)


@pytest.mark.parametrize("kind", ["xpu", "npu"])
def test_the_module_of_the_backend_has_the_functions_of_cuda(kind: str, forked: Forked) -> None:
    def work() -> None:
        module = getattr(torch, kind)
        assert module.current_device() == 0 and module.get_device_name() == "devlint emulated device"
        module.set_device(1)
        assert torch.ones(1, device=kind).device == torch.device(kind, 1)
        before = module.memory_allocated(0)
        with module.device(0):
            x = torch.ones(2, device=kind)
        assert x.device.index == 0 and module.current_device() == 1
        assert module.memory_allocated(0) - before == 8 and module.max_memory_allocated(0) >= 8
        assert module.mem_get_info(0)[1] > 0 and module.get_device_properties(0).total_memory > 0
        with module.stream(module.Stream()) as stream:
            event = stream.record_event()
        module.current_stream().wait_event(event)
        module.manual_seed_all(3)
        assert getattr(nn.Linear(1, 1), kind)().weight.device.index == 1
        assert getattr(torch.ones(1), kind)(0).device.index == 0

    on(kind, forked, work, devices=2)


def test_the_extension_of_the_npu_can_be_imported(forked: Forked) -> None:
    def work() -> None:
        import torch_npu
        from torch.npu.amp import GradScaler, autocast

        assert torch_npu.npu is torch.npu
        weight = nn.Linear(2, 2).npu()
        with autocast():
            loss = weight(torch.ones(1, 2).npu()).sum()
        assert loss.dtype is torch.float32 or loss.dtype is torch.float16
        GradScaler().scale(loss).backward()
        assert isinstance(torch.npu.FloatTensor(2), torch.npu.FloatTensor)

    on("npu", forked, work)


@pytest.mark.parametrize("kind", BACKENDS)
def test_tensors_are_saved_loaded_and_copied_with_their_device(kind: str, forked: Forked) -> None:
    def work() -> None:
        x = torch.arange(3.0, device=kind)
        file = io.BytesIO()
        torch.save({"x": x}, file)
        for place, expected in ((None, kind), ("cpu", "cpu"), (kind, kind), (torch.device(kind), kind)):
            file.seek(0)
            assert torch.load(file, map_location=place)["x"].device.type == expected
        assert pickle.loads(pickle.dumps(x)).device == x.device
        # A file from another machine.
        other = "cuda:0" if kind != "cuda" else "xpu:0"
        data = file.getvalue().replace(f"{kind}:0".encode(), other.encode())
        if kind != "mps" and len(other) == len(f"{kind}:0"):
            words = raised(lambda: torch.load(io.BytesIO(data)))
            assert "Attempting to deserialize object on a" in words, words

    on(kind, forked, work)


@pytest.mark.parametrize("kind", BACKENDS)
def test_a_loader_pins_memory_where_the_backend_has_it(kind: str, forked: Forked) -> None:
    def work() -> Any:
        data = torch.utils.data.TensorDataset(torch.ones(4, 2))
        batches = [batch for (batch,) in torch.utils.data.DataLoader(data, batch_size=2, pin_memory=True)]
        assert all(batch.to(kind, non_blocking=True).device.type == kind for batch in batches)
        return all(batch.is_pinned() for batch in batches)

    # torch/utils/data/dataloader.py: "not supported on MPS now, device pinned memory won't be used"
    assert on(kind, forked, work) is (kind != "mps")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("cuda", "different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"),
        ("xpu", "different from other tensors on xpu:0 (when checking argument in method wrapper_XPU_addmm)"),
        ("npu", "different from other tensors on npu:0 (when checking argument in method wrapper_PrivateUse1_addmm)"),
        ("mps", "Tensor for argument input is on cpu but expected on mps"),
    ],
)
def test_operands_on_two_devices_are_an_error_in_the_words_of_the_backend(
    kind: str, words: str, forked: Forked
) -> None:
    def work() -> tuple[str, set[str]]:
        with record() as report:
            said = raised(lambda: nn.Linear(2, 2).to(kind)(torch.ones(1, 2)))
        return said, report.codes

    said, codes = on(kind, forked, work)
    assert words in said and codes == {"DEV101"}


def test_kernels_of_mps_take_no_host_tensors(forked: Forked) -> None:
    def work() -> tuple[str, str, str]:
        near, host = torch.ones(2, 2, device="mps"), torch.ones(2, 2)
        table = nn.Embedding(3, 2).to("mps")
        return raised(lambda: near @ host), raised(lambda: near + host), raised(lambda: table(torch.tensor([1])))

    product, total, looked_up = on("mps", forked, work)
    assert product == looked_up == "RuntimeError: Placeholder storage has not been allocated on MPS device!"
    assert total.endswith("found at least two devices, mps:0 and cpu!")


MPS_FLOAT64 = "TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64."
LIMITED: dict[str, Callable[[Any], Any]] = {
    "move": lambda kind: torch.ones(2, dtype=torch.float64).to(kind),
    "create": lambda kind: torch.zeros(2, dtype=torch.float64, device=kind),
    "fill": lambda kind: torch.full((2,), 1.0, dtype=torch.float64, device=kind),
    "array": lambda kind: torch.as_tensor(torch.ones(2, dtype=torch.float64).numpy(), device=kind),
    "cast": lambda kind: torch.ones(2, device=kind).double(),
    "module": lambda kind: nn.Linear(2, 2).to(kind).double(),
    "sum": lambda kind: torch.ones(2, device=kind).sum(dtype=torch.float64),
    "like": lambda kind: torch.zeros_like(torch.ones(2, device=kind), dtype=torch.float64),
}


@pytest.mark.parametrize("name", LIMITED)
def test_mps_has_no_float64(name: str, forked: Forked) -> None:
    assert on("mps", forked, lambda: raised(lambda: LIMITED[name]("mps"))).startswith(MPS_FLOAT64)
    assert on("xpu", forked, lambda: raised(lambda: LIMITED[name]("xpu"))).startswith("returned ")


def test_mps_takes_float64_where_it_becomes_another_dtype(forked: Forked) -> None:
    def work() -> None:
        assert torch.ones(2, dtype=torch.float64).to("mps", torch.float32).dtype is torch.float32
        assert torch.ones(2, device="mps").to("cpu", torch.float64).dtype is torch.float64
        assert (torch.ones(2, device="mps") * torch.tensor(2.0, dtype=torch.float64)).dtype is torch.float32
        assert torch.float64 not in torch.accelerator.get_device_capability()["supported_dtypes"]

    on("mps", forked, work)


def test_mps_does_not_compute_with_complex128(forked: Forked) -> None:
    def work() -> tuple[str, str]:
        x = torch.ones(2, dtype=torch.complex128).to("mps")
        assert x.view(1, 2).cpu().dtype is torch.complex128
        narrow = torch.ones(2, dtype=torch.complex64).to("mps")
        return raised(lambda: x.cos()), raised(lambda: narrow.cos().dtype)

    assert on("mps", forked, work) == (
        "TypeError: Trying to convert ComplexDouble to the MPS backend but it does not have support for that dtype.",
        "returned torch.complex64",
    )


def test_a_cast_to_float64_on_the_npu_gives_float32_and_a_warning(forked: Forked) -> None:
    def work() -> None:
        x = torch.ones(2, device="npu", requires_grad=True)
        with pytest.warns(UserWarning, match="Device do not support double dtype now"):
            y = x.double()
        assert y.dtype is torch.float32
        y.sum().backward()
        assert x.grad is not None and x.grad.dtype is torch.float32
        assert torch.ones(2, dtype=torch.float64).to("npu").dtype is torch.float64

    on("npu", forked, work)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("cuda", r"CUDA error: invalid device ordinal"),
        ("xpu", r"The device index is out of range\. It must be in \[0, 2\), but got 2\."),
        ("npu", r"Invalid device_index : 2, valid device_index range is \[0, 2\)"),
    ],
)
def test_an_index_beyond_the_devices(kind: str, words: str, forked: Forked) -> None:
    def work() -> str:
        assert torch.ones(1, device=f"{kind}:1").device.index == 1
        return raised(lambda: torch.ones(1, device=f"{kind}:2"))

    assert re.search(words, on(kind, forked, work, devices=2))


def test_mps_has_one_device_and_one_stream(forked: Forked) -> None:
    with pytest.raises(ValueError, match="only one mps device"), emulate(2, "mps"):
        pass

    def work() -> None:
        assert torch.ones(1, device="mps:1").device == torch.device("mps", 0)
        assert torch.Stream("mps") == torch.accelerator.current_stream()
        assert not hasattr(torch.mps, "current_device") and not hasattr(torch.mps, "Stream")
        assert torch.mps.recommended_max_memory() > torch.mps.current_allocated_memory()
        torch.mps.Event(enable_timing=True).record()

    on("mps", forked, work)


@pytest.mark.parametrize("kind", BACKENDS)
def test_autocast_casts_as_the_backend_does(kind: str, forked: Forked) -> None:
    def work() -> None:
        layer, x = nn.Linear(4, 4).to(kind), torch.rand(2, 4, device=kind)
        scores = torch.rand(2, 4, device=kind)
        with torch.autocast(kind):
            assert layer(x).dtype is torch.float16
            assert layer(x).softmax(-1).dtype is torch.float32
        with torch.autocast(kind, dtype=torch.bfloat16):
            assert (x @ x.T).dtype is torch.bfloat16
            # MPS alone does not ban this function (aten/src/ATen/autocast_mode.cpp).
            said = raised(lambda: nn.functional.binary_cross_entropy(scores, scores.round()).dtype)
            assert said.startswith("returned torch.float32" if kind == "mps" else "RuntimeError: torch.nn.functional")
        assert layer(x).dtype is torch.float32

    on(kind, forked, work)


def test_a_program_that_names_cuda_is_reported_as_tied_to_it(forked: Forked) -> None:
    def work() -> set[str]:
        with pytest.raises(AssertionError, match=NO_CUDA), record() as report:
            torch.ones(1).cuda()
        return report.codes

    assert on("xpu", forked, work) == {"DEV601"}
    assert on("cuda", forked, lambda: raised(lambda: torch.ones(1).cuda().device)) == "returned cuda:0"


def test_an_unknown_device_type_is_refused() -> None:
    with pytest.raises(ValueError, match="devlint emulates cuda, xpu, mps, npu, not 'tpu'"), emulate(kind="tpu"):
        pass
