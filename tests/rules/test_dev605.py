"""Functions of `torch.cuda` that torch has for every accelerator."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.config.config_options import Options
from devlint.config.settings import OptionSource, merge_sources
from devlint.diagnostic import Severity
from devlint.linter.rule_listing import all_rule_metadata

from .programs import check

BAD = {
    "a type that is demanded": """
def begin(scaler):
    if not isinstance(scaler, torch.cuda.amp.GradScaler):  # DEV605
        raise RuntimeError("another scaler")

def took(event, end):
    assert isinstance(event, torch.cuda.Event)  # DEV605

def known(scaler):
    if not isinstance(scaler, torch.cuda.amp.GradScaler):
        return None
    return scaler
""",
    "a context that is entered": """
def step(run, x: torch.Tensor, half: bool):
    with torch.cuda.amp.autocast(), torch.no_grad():  # DEV605
        run(x)
    with torch.no_grad() and torch.cuda.amp.autocast():  # DEV605
        return run(x)
""",
    "a helper that counts something else": """
def count(names):
    return len(names) if torch.cuda.is_available() else 1

def wait(names):
    n = count(names)
    if n == 0:
        return
    torch.cuda.synchronize()  # DEV605
""",
    "a flag of transformers that the class sets itself": """
from transformers import PreTrainedModel

class Stack(PreTrainedModel):
    def spread(self):
        self.model_parallel = True

    def forward(self, x):
        if self.model_parallel:
            torch.cuda.set_device(self.first_device)  # DEV605
        return x
""",
    "a flag of the same name as one of transformers": """
class Stack(nn.Module):
    def forward(self, x):
        if self.model_parallel:
            torch.cuda.set_device(self.first_device)  # DEV605
        return x
""",
    "after a helper that may do without CUDA": """
def begin():
    if not torch.cuda.is_available():
        return None
    return 0

def run():
    rank = begin()
    torch.cuda.synchronize(rank)  # DEV605
""",
    "graphs where they may be taken elsewhere": """
import quiver_like

def wait():
    torch.cuda.synchronize()  # DEV605
""",
    "graphs where they can be": """
try:
    import dgl
except ImportError:
    dgl = None

def wait():
    torch.cuda.synchronize()  # DEV605
""",
    "seeds that nothing sets before": """
def worker(rank: int, n: int):
    torch.cuda.manual_seed(n)  # DEV605

def alone(n: int):
    torch.cuda.manual_seed(n)  # DEV605

class Trainer:
    def run(self, n: int):
        torch.cuda.manual_seed(n)  # DEV605

def main(n: int, several: bool):
    if several:
        torch.manual_seed(n)
        torch.multiprocessing.spawn(worker, nprocs=2)
    else:
        worker(0, n)
    Trainer().run(n)
""",
    "whatever processes talk by": """
import torch.distributed as dist

def wait(group):
    if dist.is_initialized():
        dist.barrier(group, device_ids=[torch.cuda.current_device()])  # DEV605
""",
    "a stream on every device": """
class Prefetcher:
    def __init__(self, device):
        self.device = device
        self.stream = torch.cuda.Stream()  # DEV605

    def take(self, batch):
        with torch.cuda.stream(self.stream):  # DEV605
            batch = batch.to(self.device)
        if batch is not None:
            torch.cuda.current_stream().wait_stream(self.stream)  # DEV605
        return batch
""",
    "mixed precision that may be on": """
from torch.cuda.amp import autocast

class Trainer:
    def __init__(self, args):
        self.half = False
        if args.half:
            self.half = args.half

    def train(self, model, batch, args, half=True):
        wanted = False
        if args.half:
            wanted = True
        with autocast(enabled=self.half), autocast(args.half):  # DEV605
            model(batch)
        with torch.cuda.amp.autocast(wanted):  # DEV605
            return model(batch)
""",
    "a number that decides about something else": """
count = torch.cuda.device_count()  # DEV605

def prepared(model, count: int):
    return nn.DataParallel(model) if count > 1 else model

def main(model, ids):
    several = torch.cuda.device_count()  # DEV605
    if several > 1:
        model = nn.DataParallel(model)
    for place in range(torch.cuda.device_count()):  # DEV605
        model.to(place)
    for place in range(ids):
        torch.cuda.synchronize(place)  # DEV605
    return prepared(model, torch.cuda.device_count())  # DEV605
""",
    "mixed precision that an option switches": """
def run(model, x, half: bool):
    with torch.cuda.amp.autocast(enabled=half, dtype=torch.float16):  # DEV605
        model(x)
""",
    "a number of devices that are not named": """
from maps import make_map

class Stack(nn.Module):
    def parallelize(self, places):
        self.first = min(places.keys())

    def name(self):
        return "cuda:0"

class Model(nn.Module):
    def parallelize(self, places=None):
        self.places = make_map(self.blocks, range(torch.cuda.device_count())) if places is None else places  # DEV605
        self.stack.parallelize(self.places)
""",
    "figures of any device": """
from unittest.mock import patch

def tell():
    print("peak:", torch.cuda.max_memory_allocated("cuda:0"))  # DEV605
    count = torch.cuda.device_count()  # DEV605
    print("CUDA devices:", count)

def test_it():
    with patch("torch.cuda.is_available"):
        torch.cuda.synchronize()  # DEV605
    return torch.cuda.amp.GradScaler(enabled=True), torch.float16  # DEV605
""",
    "kernels that are asked for": """
try:
    import fused_adam_cuda
except ModuleNotFoundError:
    fused_adam_cuda = None

def step(x: torch.Tensor):
    torch.cuda.synchronize()  # DEV605
""",
    "an index": """
def move(x, y, seed: int):
    torch.random.manual_seed(seed)
    z = x.to(torch.cuda.current_device())  # DEV605
    return z, y.cuda(seed)

def seeds(random, n: int):
    random.manual_seed(n)
    torch.cuda.manual_seed(n)  # DEV605
""",
    "a profile of any device": """
from torch.profiler import ProfilerActivity, profile

def measure(step):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        step()
    torch.cuda.synchronize()  # DEV605
    print(profiler.key_averages().table(sort_by="cpu_time_total"))
""",
    "waits and devices": """
def run(rank: int):
    torch.cuda.set_device(rank)  # DEV605
    torch.cuda.synchronize()  # DEV605
    return torch.cuda.current_device(), torch.cuda.device_count()  # DEV605
""",
    "memory": """
def peak():
    torch.cuda.empty_cache()  # DEV605
    torch.cuda.memory.reset_peak_memory_stats()  # DEV605
    return torch.cuda.max_memory_allocated() / 2**20  # DEV605
""",
    "events and streams": """
def timed(step):
    start = torch.cuda.Event(enable_timing=True)  # DEV605
    stream = torch.cuda.Stream()  # DEV605
    with torch.cuda.stream(stream):  # DEV605
        step()
    return start
""",
    "a class that is called, or that nothing compares": """
def kind(x):
    return isinstance(x, type(torch.cuda.Event(enable_timing=True)))  # DEV605

def made(events: list):
    return events + [torch.cuda.Event]  # DEV605
""",
    "behind an assertion of something else": """
def wait(store):
    assert store.fast
    torch.cuda.synchronize()  # DEV605
""",
    "a wait with no other one beside it": """
def wait(new: bool):
    if new:
        print("no wait")
    else:
        torch.cuda.synchronize()  # DEV605
""",
    "mixed precision": """
from torch.cuda.amp import GradScaler, autocast

def train(model: nn.Module, x: torch.Tensor):
    scaler = GradScaler()  # DEV605
    with autocast():  # DEV605
        return scaler.scale(model(x))
""",
    "a seed that no other sets": """
def seed(n: int, host: bool):
    if host:
        torch.manual_seed(n)
    else:
        torch.cuda.manual_seed(n)  # DEV605

def again(n: int):
    torch.cuda.manual_seed_all(n)  # DEV605

torch.cuda.manual_seed(3)  # DEV605
""",
    "kernels that are built where they can be": """
from torch.utils.cpp_extension import load

try:
    import fused_adam_cuda
except ImportError:
    fused_adam_cuda = None
if fused_adam_cuda is None:
    kernels = load("kernels", sources=["kernels.cu"])
host = load("host", sources=["host.cpp"])

def wait():
    torch.cuda.synchronize()  # DEV605

def captured(step):
    return torch.cuda.CUDAGraph()
""",
    "kernels that are built, or are none": """
from torch.utils.cpp_extension import load

try:
    import kernels
except ImportError:
    kernels = None
if kernels is None and torch.cuda.is_available():
    kernels = load("kernels", sources=["kernels.cu"])
run = kernels

def wait():
    torch.cuda.synchronize()  # DEV605
""",
    "a helper of code for packages that may be missing": """
def buffer():
    try:
        import deep_ep
    except ImportError:
        return None
    return deep_ep.Buffer()

def barrier():
    torch.cuda.synchronize()  # DEV605

def combine(x):
    found = buffer()
    barrier()
    return found.combine(x)
""",
    "what is called after a check that only warns": """
def check(x):
    if not x.is_cuda:
        print("slow")

def prepare(device):
    with torch.cuda.device(device):  # DEV605
        return native.configure()

class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        check(x)
        return prepare(x.device)
""",
    "helpers of tests that also run without CUDA": """
from unittest.mock import patch

import pytest

def peak():
    torch.cuda.reset_peak_memory_stats()  # DEV605

def wait():
    torch.cuda.synchronize()  # DEV605

def alone():
    torch.cuda.synchronize()  # DEV605

def mixed():
    torch.cuda.synchronize()  # DEV605

def mocked():
    torch.cuda.synchronize()  # DEV605

@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_peak(device):
    peak()

@pytest.mark.skipif(torch.cuda.is_available(), reason="a test of the host")
def test_wait():
    wait()

@skip_if_cuda
def test_alone():
    alone()

@torch.cuda.amp.autocast()  # DEV605
def loss():
    mixed()

@patch("torch.cuda.is_available")
def test_mocked(mock):
    mocked()
""",
    "errors of other kinds are handled": """
def step(run):
    try:
        run()
    except RuntimeError:
        torch.cuda.empty_cache()  # DEV605
    try:
        torch.cuda.synchronize()  # DEV605
    except:
        raise
    try:
        torch.cuda.synchronize()  # DEV605
    except RuntimeError:
        pass
""",
    "the number of devices": """
import os

def devices():
    return list(range(torch.cuda.device_count()))  # DEV605

def hidden():
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    torch.cuda.synchronize()  # DEV605
""",
    "a device that is chosen": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def wait():
    torch.cuda.synchronize()  # DEV605
""",
    "what each device's module has": """
def seed(n: int):
    torch.cuda.manual_seed_all(n)  # DEV605
    return torch.cuda.get_device_name(0)  # DEV605
""",
    "handed on": """
def trace(run):
    run(torch.cuda.synchronize)  # DEV605
""",
    "full precision in code that computes in half precision elsewhere": """
def norm(model: nn.Module, x: torch.Tensor):
    with torch.cuda.amp.autocast(dtype=torch.float32):  # DEV605
        return model(x)

def step(model: nn.Module, x: torch.Tensor):
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        return norm(model, x)
""",
    "a stream that only torch uses": """
def run(engine, x: torch.Tensor):
    stream = torch.cuda.current_stream()  # DEV605
    stream.synchronize()
    return engine.execute(x, stream)
""",
    "a value that is not None without CUDA": """
def scaler(wanted: bool, device: str):
    dtype = torch.float16 if torch.cuda.is_available() or wanted else None
    return torch.cuda.amp.GradScaler() if dtype is torch.float16 else None  # DEV605

def given(dtype: torch.dtype):
    return torch.cuda.amp.GradScaler() if dtype is torch.float16 else None  # DEV605
""",
    "figures of other things than each CUDA device": """
def names(count: int):
    return [torch.cuda.get_device_name(i) for i in range(count)]  # DEV605
""",
    "the number of devices of which a map is made": """
def memory():
    return {
        i: torch.cuda.mem_get_info(i)[0]
        for i in range(torch.cuda.device_count())  # DEV605
    }
""",
    "a class that perhaps imports a package for CUDA": """
class Reader:
    def __init__(self, path: str):
        if path.endswith(".mp4"):
            import PyNvVideoCodec as codec
            self.decoder = codec.SimpleDecoder(path)

    def read(self):
        torch.cuda.current_stream().synchronize()  # DEV605
""",
    "on an accelerator of any kind": """
def free(device: torch.device):
    if device.type != "cpu":
        torch.cuda.empty_cache()  # DEV605
""",
}

GOOD = {
    "a context that is never entered": """
def step(run, x: torch.Tensor):
    with torch.cuda.amp.autocast() and torch.no_grad():
        return run(x)
""",
    "a helper counts the devices": """
def count():
    return torch.cuda.device_count() if torch.cuda.is_available() else 0

def wait():
    n = count()
    peaks = {}
    if n == 0:
        return peaks
    with torch.cuda.device(0):
        torch.cuda.synchronize()
    return peaks

def wait_for_all():
    n = count()
    for place in range(n):
        torch.cuda.synchronize(place)
""",
    "a helper that returns early counts the devices": """
def count():
    if not torch.cuda.is_available():
        return 0
    return torch.cuda.device_count()

def wait():
    n = count()
    if n > 1:
        torch.cuda.synchronize()
""",
    "full precision where nothing computes in half precision": """
def step(model: nn.Module, x: torch.Tensor):
    scaler = torch.cuda.amp.GradScaler()
    with torch.cuda.amp.autocast(dtype=torch.float32):
        return scaler.scale(model(x).sum())
""",
    "a stream that is handed to TensorRT": """
def run(engine, context, x: torch.Tensor):
    torch.cuda.current_stream().synchronize()
    context.set_tensor_address(engine.get_tensor_name(0), x.data_ptr())
    return context.execute_async_v3(torch.cuda.current_stream().cuda_stream)
""",
    "a value that is None without CUDA": """
def scaler():
    dtype = (
        torch.bfloat16
        if torch.cuda.is_available() and torch.cuda.is_bf16_supported()
        else torch.float16
        if torch.cuda.is_available()
        else None
    )
    return torch.cuda.amp.GradScaler() if dtype is torch.float16 else None
""",
    "a class that always imports a package for CUDA": """
class Reader:
    def __init__(self, path: str):
        import PyNvVideoCodec as codec
        self.decoder = codec.SimpleDecoder(path)

    def read(self):
        torch.cuda.current_stream().synchronize()
""",
    "what a base class of transformers has only with CUDA": """
from transformers.models.t5.modeling_t5 import T5Stack

class Stack(T5Stack):
    def forward(self, x):
        if self.model_parallel:
            torch.cuda.set_device(self.first_device)
        return x
""",
    "a test after a helper that skips it without CUDA, and returns something": """
import pytest

def begin():
    if not torch.cuda.is_available():
        pytest.skip("needs CUDA")
    return 0

def test_sum():
    try:
        rank = begin()
        torch.cuda.synchronize(rank)
    finally:
        print("done")
""",
    "another name of torch.OutOfMemoryError": """
def fits(model: nn.Module, x: torch.Tensor):
    try:
        model(x)
    except torch.cuda.OutOfMemoryError:
        return False
    return True
""",
    "graphs that are sampled on CUDA": """
import quiver

def wait():
    torch.cuda.synchronize()
""",
    "a scaler of losses that nothing computes in half precision": """
def train(model: nn.Module, x: torch.Tensor):
    scaler = torch.cuda.amp.GradScaler()
    scaler.scale(model(x).sum()).backward()
""",
    "graphs on the host or CUDA": """
import dgl

def step(x: torch.Tensor):
    torch.cuda.synchronize()
""",
    "a seed that the caller sets before": """
def worker(rank: int, n: int):
    torch.cuda.manual_seed(n)

def main(n: int):
    torch.manual_seed(n)
    if n > 1:
        torch.multiprocessing.spawn(worker, nprocs=2)
    else:
        worker(0, n)
""",
    "where processes talk by NCCL": """
import torch.distributed as dist

def wait(group):
    if dist.get_backend(group) == dist.Backend.NCCL:
        dist.barrier(group, device_ids=[torch.cuda.current_device()])
    else:
        dist.barrier(group)
""",
    "behind an assertion that a flag says CUDA": """
def dtype(config, store):
    if config.pop("autocast"):
        assert store.cuda
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.float32
""",
    "a class that values are compared with": """
from typing import Union

Mark = Union[torch.cuda.Event, float]
Stamp = torch.cuda.Event | float

def took(start, end):
    if type(start) == torch.cuda.Event:
        return start.elapsed_time(end)
    if isinstance(start, (torch.cuda.Event, int)):
        return 0.0
    return end - start
""",
    "what an older torch has, beside what a newer one has": """
NEW = torch.__version__ >= "2.4"

def scaler(device: str):
    return torch.amp.GradScaler(device=device) if NEW else torch.cuda.amp.GradScaler()

def wait():
    if NEW:
        torch.accelerator.synchronize()
    else:
        torch.cuda.synchronize()
""",
    "a stream where there are streams": """
class Prefetcher:
    def __init__(self, device):
        self.device = device
        self.stream = torch.cuda.Stream() if device.type == "cuda" else None

    def take(self, batch):
        with torch.cuda.stream(self.stream):
            batch = batch.to(self.device)
        if self.stream is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
        return batch

def run(step, device, stream=None):
    side = torch.cuda.Stream() if device.type == "cuda" else None
    with torch.cuda.stream(side):
        step()
    if stream:
        torch.cuda.current_stream().wait_stream(stream)
""",
    "mixed precision that a constant switches off": """
from torch.cuda.amp import GradScaler, autocast

HALF = False

class Trainer:
    def __init__(self):
        self.half = False

    def train(self, model, batches):
        half = False
        scaler = GradScaler(enabled=half)
        for batch in batches:
            with autocast(half):
                model(batch)
            with torch.cuda.amp.autocast(enabled=HALF):
                model(batch)
            with autocast(enabled=self.half):
                model(batch)
""",
    "mixed precision that is on with CUDA only": """
from torch.cuda.amp import autocast

def run(model, x, use_cuda: bool):
    with autocast(enabled=torch.cuda.is_available(), dtype=torch.float16):
        model(x)
    with torch.cuda.amp.autocast(use_cuda):
        model(x)
""",
    "a number of devices that are named as those of CUDA": """
class Stack(nn.Module):
    def parallelize(self, places):
        self.first = "cuda:" + str(min(places.keys()))

class Model(nn.Module):
    def parallelize(self, places=None):
        self.places = make_map(self.blocks, range(torch.cuda.device_count())) if places is None else places
        self.stack.parallelize(self.places)
""",
    "a number that decides whether CUDA is taken": """
import pytorch_lightning as pl

available = list(range(torch.cuda.device_count()))
device = torch.device("cuda:0" if len(available) > 0 else "cpu")

def choose():
    count = torch.cuda.device_count()
    if count == 0:
        return "cpu", []
    return "cuda:0", list(range(count))

def prepared(count: int):
    return torch.device("cuda:0") if count else torch.device("cpu")

def main():
    device = prepared(torch.cuda.device_count())
    return device, pl.Trainer(gpus=torch.cuda.device_count())
""",
    "once for each CUDA device": """
def number_of_cuda_devices():
    return torch.cuda.device_count()

def names():
    count = number_of_cuda_devices()
    for place in range(count):
        print(torch.cuda.get_device_name(place))
    for place in range(torch.cuda.device_count()):
        torch.cuda.synchronize(place)
""",
    "figures of CUDA itself, a mock and a scaler that is off": """
from unittest.mock import patch

def tell():
    print("Number of CUDA devices: ", torch.cuda.device_count())
    print(f"cuda_count: {torch.cuda.device_count()}")

def test_it():
    with patch("torch.cuda.is_bf16_supported", return_value=True):
        assert torch.cuda.is_bf16_supported()
    return torch.cuda.amp.GradScaler(enabled=False)
""",
    "behind a check": """
def run(x: torch.Tensor, args):
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    if x.is_cuda:
        torch.cuda.empty_cache()
    if x.device.type == "cuda":
        torch.cuda.synchronize(x.device)
    if args.gpu is not None:
        torch.cuda.set_device(args.gpu)
    count = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
""",
    "a seed beside that of torch": """
import torch as th

torch.manual_seed(1)
torch.cuda.manual_seed_all(1)

def seed(n: int, several: bool):
    generator = th.manual_seed(n)
    if several:
        th.cuda.manual_seed_all(n)
    return generator
""",
    "a seed beside that of torch, by its other name": """
def seed(n: int):
    torch.random.manual_seed(n)
    torch.cuda.random.manual_seed(n)
""",
    "an index beside the type that ties the code to CUDA": """
def move(x):
    y = x.cuda(torch.cuda.current_device())
    return y, torch.device("cuda", torch.cuda.current_device()), f"cuda:{torch.cuda.current_device()}"
""",
    "the CUDA runtime itself": """
def pin(device, storages):
    torch.cuda.set_device(device)
    runtime = torch.cuda.cudart()
    for one in storages:
        runtime.cudaHostRegister(one.data_ptr(), one.nbytes(), 0)
""",
    "the times of CUDA kernels": """
from torch.profiler import ProfilerActivity, profile

def measure(step):
    torch.cuda.reset_peak_memory_stats()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        step()
    torch.cuda.synchronize()
    print(profiler.key_averages().table(sort_by="self_cuda_time_total"))
""",
    "helpers of tests that require CUDA": """
import pytest

from .marks import instantiate, requiresCUDA, wrapper

needs_devices = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="two devices")

def peak():
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_stats()["peak"]

def peaks():
    return peak(), peak()

def wait():
    torch.cuda.synchronize()

def work(rank):
    torch.cuda.set_device(rank)

@requiresCUDA
def test_peaks():
    def measure():
        return peaks()

    assert measure()

@needs_devices
def test_wait():
    wait()

@pytest.mark.parametrize("device", ["cuda"])
def test_one(device):
    wait()

@instantiate(devicetypes=(DeviceType.CUDA,))
@wrapper("test_work", work)
def test_work(device):
    pass
""",
    "tests that require CUDA together": """
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not torch.cuda.is_available(), reason="for CUDA")]

def test_wait():
    torch.cuda.synchronize()
""",
    "a test that is left without CUDA": """
import pytest

def wait():
    torch.cuda.synchronize()

def test_wait():
    if not torch.cuda.is_available():
        pytest.skip("for CUDA")
    wait()
""",
    "a helper of code for CUDA packages": """
def buffer():
    import deep_ep

    return deep_ep.Buffer()

def barrier():
    torch.cuda.synchronize()

def combine(x):
    found = buffer()
    barrier()
    return found.combine(x)
""",
    "what is called after a check of the tensors": """
def check(x):
    if not x.is_cuda:
        raise RuntimeError("CUDA tensors only")

def prepare(device):
    with torch.cuda.device(device):
        return native.configure()

class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        check(x)
        return prepare(x.device)
""",
    "kernels that a function imports": """
def profile(data):
    from nerfacc.scan import inclusive_sum

    torch.cuda.synchronize()
    return inclusive_sum(data)
""",
    "kernels that are asked for in vain": """
try:
    import fused_adam_cuda
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("build the kernels first") from error

def step(x: torch.Tensor):
    torch.cuda.synchronize()
    return fused_adam_cuda.step(x)
""",
    "kernels that are always built": """
from torch.utils.cpp_extension import load

kernels = load(name="kernels", sources=["kernels.cpp", "kernels.cu"])

def timed(x: torch.Tensor):
    kernels.run(x)
    torch.cuda.synchronize()
""",
    "kernels that are built where they are not installed": """
from torch.utils.cpp_extension import load

is_missing = False
try:
    import kernels
except ModuleNotFoundError:
    is_missing = True
if is_missing:
    kernels = load("kernels", sources=["kernels.cu"])
run = kernels.run

def wait():
    torch.cuda.synchronize()
""",
    "kernels that are always imported": """
import fused_adam_cuda

def step(x: torch.Tensor):
    with torch.cuda.device(0):
        return fused_adam_cuda.step(x, torch.cuda.current_stream())
""",
    "the capture of a graph": """
def capture(step, x: torch.Tensor):
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        step(x)
    return graph
""",
    "what not every device that may be chosen has": """
device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")

def name():
    return torch.cuda.get_device_name(0)
""",
    "behind a check that is not followed": """
import enum
import unittest
from unittest import skipIf

class Kind(enum.Enum):
    CUDA = "cuda"
    HOST = "cpu"

def state(kind, states, flags):
    if kind == Kind.CUDA:
        return torch.cuda.get_rng_state()
    if "torch.cuda" in states:
        torch.cuda.set_rng_state_all(states["torch.cuda"])
    flags.gpu and torch.cuda.synchronize()

@unittest.skipIf(torch.cuda.device_count() < 2, "needs two GPUs")
def test_two():
    torch.cuda.set_device(1)

class Case(unittest.TestCase):
    @skipIf(not torch.cuda.is_available(), "needs a GPU")
    def test_wait(self):
        torch.cuda.synchronize()
""",
    "a missing CUDA is handled": """
def name():
    try:
        return torch.cuda.get_device_name(0)
    except:
        return "none"

def wait():
    try:
        torch.cuda.synchronize()
    except (AssertionError, RuntimeError):
        pass
""",
    "a package for CUDA only": """
import cupy as cp

def wait():
    torch.cuda.synchronize()
""",
    "kernels in the language of CUTLASS": """
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack

def stream():
    return torch.cuda.current_stream().cuda_stream
""",
    "devices for processes that see one": """
import os
import subprocess

def launch(commands):
    for place, command in enumerate(commands):
        gpu = place % len([*range(torch.cuda.device_count())])
        subprocess.Popen(f"CUDA_VISIBLE_DEVICES={gpu} {command}", shell=True)
""",
    "the number of devices is asked": """
def several(n):
    if torch.cuda.device_count() > 1 or n == torch.cuda.device_count():
        return True
""",
    "code that says it is for CUDA": """
def cuda_memory():
    return torch.cuda.max_memory_allocated()

class CudaTimer:
    def start(self):
        self.event = torch.cuda.Event(enable_timing=True)
""",
    "annotations": """
def record(x: torch.Tensor, stream: torch.cuda.Stream) -> torch.cuda.Event:
    event: torch.cuda.Event | None = None
    return event
""",
    "a fallback for an old torch": """
def scaler(device="cuda"):
    try:
        return torch.amp.GradScaler(device=device)
    except (AttributeError, TypeError):
        return torch.cuda.amp.GradScaler()
""",
    "left early": """
def run():
    if not torch.cuda.is_available():
        return
    torch.cuda.synchronize()
""",
    "the check itself": """
has_gpu = torch.cuda.is_available()
""",
    "what nothing replaces": """
torch.cuda.nvtx.range_push("step")
torch.cuda.set_sync_debug_mode("warn")
graph = torch.cuda.CUDAGraph()
torch.backends.cudnn.benchmark = True
major, _ = torch.cuda.get_device_capability()
torch.cuda._sleep(1)
""",
    "for any accelerator": """
torch.accelerator.synchronize()
torch.get_device_module().manual_seed_all(0)
torch.Event(enable_timing=True)
with torch.amp.autocast("cuda"):
    pass
""",
    "other objects": """
def run(cuda, backend):
    cuda.synchronize()
    backend.cuda.empty_cache()
""",
    "a missing name is handled": """
try:
    torch.cuda.synchronize()
except AttributeError:
    pass
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV605")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV605")


QUIET = """
def free(trainer, bar):
    torch.cuda.empty_cache()  # DEV605
    trainer.cleanup = torch.cuda.empty_cache  # DEV605
    count = torch.cuda.device_count()  # DEV605
    print("devices", count)
    used = torch.cuda.memory_allocated() / 2**20  # DEV605
    text = "{} MB".format(round(used))
    bar.set_postfix_str(text)
    trainer.log("peak", torch.cuda.max_memory_reserved())  # DEV605
    trainer.info_once(f"{torch.cuda.memory_reserved()} bytes", key="memory")  # DEV605

def sample(model):
    device_count = torch.cuda.device_count()  # DEV605
    return model()

def restore(seed: int, states):
    torch.cuda.manual_seed_all(seed)  # DEV605
    torch.cuda.random.manual_seed(seed)  # DEV605
    torch.cuda.set_rng_state_all(states)  # DEV605
    return torch.cuda.get_rng_state_all()  # DEV605

total = torch.cuda.device_count()  # DEV605

def tell():
    print(total, loader(total=1))

torch.cuda.max_memory_allocated()  # DEV605

def copies_in_time():
    data = torch.rand(1024, 128, device="cuda:0")
    other = torch.randn(4).to("cuda")
    start = torch.cuda.Event(enable_timing=True)  # DEV605
    data @ data.T
    torch.cuda.synchronize()  # DEV605
    return start, other

def copies():
    data = torch.randint(0, 8, (4,)).cuda()
    torch.cuda.synchronize()  # DEV605
    return data

def time_of(step):
    step()
    torch.cuda.synchronize()  # DEV605

def products():
    device = torch.device("cuda", 0)
    data = torch.randn(8, 8, device=device)
    return time_of(lambda: data @ data)

if __name__ == "__main__":
    products()
"""
TYING = """
class Machine:
    count = torch.cuda.device_count()  # DEV605

    def __init__(self):
        self.devices = torch.cuda.device_count()  # DEV605
        print(self.devices)

def prepared(model, count: int):
    return nn.DataParallel(model) if count > 1 else model

def work(model, size: int):
    count = torch.cuda.device_count()  # DEV605
    print("devices", count)
    share = size // torch.cuda.device_count()  # DEV605
    print(share, size / torch.cuda.device_count())  # DEV605
    workers = torch.cuda.device_count()  # DEV605
    each = size / workers
    print(each, torch.cuda.get_device_name(0))  # DEV605
    kept = torch.cuda.get_rng_state()  # DEV605
    torch.cuda.synchronize()  # DEV605
    device_count = torch.cuda.device_count()  # DEV605
    wrapped = prepared(model, device_count)
    again = prepared(model, torch.cuda.device_count())  # DEV605
    print(wrapped, again)
    seen = torch.cuda.device_count()  # DEV605
    kind = "several" if seen > 1 else "one"
    print(kind)
    return nn.DataParallel(model, list(range(count))), torch.cuda.memory_allocated()  # DEV605

total = torch.cuda.device_count()  # DEV605
print(total)

def shares(size: int):
    return size * total

def step_in_time(model, x):
    start = torch.cuda.Event(enable_timing=True)  # DEV605
    model(x + torch.randn(4, device=x.device))
    torch.cuda.synchronize()  # DEV605
    return start

def epoch_in_time(model, loader):
    for x in loader:
        model(x, torch.randn(4).cuda())
    torch.cuda.synchronize()  # DEV605

def wrapped_for_all(model):
    made = torch.randn(4, device="cuda")
    return nn.DataParallel(model, list(range(torch.cuda.device_count()))), made  # DEV605

def time_of(step):
    step()
    torch.cuda.synchronize()  # DEV605

def products(place):
    device = torch.device("cuda", 0)
    if place:
        device = torch.device(place)
    data = torch.randn(8, 8, device=device)
    return time_of(lambda: data @ data)

if __name__ == "__main__":
    products(None)
"""


@pytest.mark.parametrize(("source", "severity"), [(QUIET, Severity.INFO), (TYING, Severity.WARNING)])
def test_what_nobody_misses_without_cuda_is_only_an_information(source: str, severity: Severity) -> None:
    assert {one.severity for one in check(source, "DEV605")} == {severity}


def test_the_group_shows_only_what_ties_code_to_cuda(tmp_path: Path) -> None:
    rules = all_rule_metadata()
    by_group = merge_sources([OptionSource(Options(select=("PORTABILITY",)), tmp_path)], rules, tmp_path)
    by_code = merge_sources([OptionSource(Options(select=("DEV605",)), tmp_path)], rules, tmp_path)
    for source, tied in ((QUIET, False), (TYING, True)):
        for found in check(source, "DEV605"):
            assert (by_group.judge(found, tmp_path / "a.py") is not None) is tied
            assert by_code.judge(found, tmp_path / "a.py") is not None


def test_the_advice_says_what_differs() -> None:
    (found,) = check("torch.cuda.memory_allocated()  # DEV605\n", "DEV605")
    assert found.since_torch == (2, 9)
    assert found.message == (
        "`torch.cuda.memory_allocated` works with CUDA only;"
        " for any accelerator there is `torch.accelerator.memory_allocated`"
    )
    assert found.help == (
        "it needs torch 2.9 or newer;"
        " ask `torch.accelerator.is_available()` first:"
        " where there is no accelerator, `torch.cuda.memory_allocated` gives 0 and the new one raises;"
        " on mps it raises before torch 2.13"
    )
    (found,) = check("torch.cuda.synchronize()  # DEV605\n", "DEV605")
    assert found.help == (
        "it needs torch 2.6 or newer; without an accelerator it raises, as `torch.cuda.synchronize` does:"
        " check `torch.accelerator.is_available()` first if the program may run there"
    )
    (positional,) = check("torch.cuda.synchronize(0)  # DEV605\n", "DEV605")
    assert positional.help == found.help
    (by_keyword,) = check("torch.cuda.synchronize(device=0)  # DEV605\n", "DEV605")
    assert by_keyword.help == f"{found.help}; the device is passed by position"
    (found,) = check("share = 8 // torch.cuda.device_count()  # DEV605\n", "DEV605")
    assert found.help == "it needs torch 2.6 or newer; where there is no accelerator it gives 0 too"
    (found,) = check("torch.cuda.Event()  # DEV605\n", "DEV605")
    assert found.help == "it needs torch 2.4 or newer; the flags are passed by keyword"
    (found,) = check("torch.cuda.get_device_name(0)  # DEV605\n", "DEV605")
    assert found.help == "it needs torch 2.4 or newer; the modules of mps, mtia, cpu have none"
    assert found.message.endswith(
        "CUDA only; where the backend has it, there is `torch.get_device_module(device).get_device_name`"
    )
    (found,) = check("torch.cuda.manual_seed_all(0)  # DEV605\n", "DEV605")
    assert found.message.endswith("for any accelerator there is `torch.manual_seed`, which seeds the host too")
    assert found.help is not None
    assert "`torch.get_device_module(device).manual_seed_all` seeds the devices alone, and mps has none" in found.help
    (found,) = check("torch.cuda.amp.custom_fwd(print)  # DEV605\n", "DEV605")
    assert found.help == (
        "it needs torch 2.4 or newer; pass the device's type: `torch.amp.custom_fwd(device_type=device.type, ...)`"
    )


KERNELS = """
# file: setup.py
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension

setup(
    name="layers",
    ext_modules=[
        CUDAExtension("layers._kernels", ["layers/kernels.cpp", "layers/kernels.cu"]),
        CppExtension(name="layers.on_host", sources=["layers/host.cpp"]),
    ],
    cmdclass={"build_ext": BuildExtension},
)
# file: layers/__init__.py
# file: layers/attention.py
from layers import _kernels

def attend(x):
    return _kernels.attend(x)
# file: layers/norm.py
from . import on_host

def norm(x):
    return on_host.norm(x)
# file: train.py
import torch
from layers.attention import attend

def timed(x):
    attend(x)
    torch.cuda.synchronize()
# file: evaluate.py
import torch
from layers.norm import norm

def timed(x):
    norm(x)
    torch.cuda.synchronize()  # DEV605
# file: choose.py
import torch

try:
    from layers.attention import attend
except ImportError:
    attend = None

def timed(x):
    torch.cuda.synchronize()  # DEV605
"""


def test_files_that_import_kernels_of_the_program_are_for_cuda(tmp_path: Path) -> None:
    assert len(check(KERNELS, "DEV605", tmp_path)) == 2


AROUND = """
# file: only.py
import torch

def wait():
    torch.cuda.synchronize()
# file: both.py
import torch

def wait():
    torch.cuda.synchronize()  # DEV605
# file: graphs.py
import dgl
from only import wait
from both import wait as waited
# file: images.py
from both import wait
"""


def test_files_that_only_code_for_cuda_imports_are_for_cuda(tmp_path: Path) -> None:
    check(AROUND, "DEV605", tmp_path)


SCALERS = """
# file: scaling.py
import torch

def scaler():
    return torch.cuda.amp.GradScaler()  # DEV605
# file: train.py
import torch
from scaling import scaler

def step(model, x):
    with torch.autocast("cpu"):
        return scaler().scale(model(x))
"""


def test_a_scaler_is_for_half_precision_in_any_file(tmp_path: Path) -> None:
    check(SCALERS, "DEV605", tmp_path)


SEEDS = """
# file: work.py
import torch

def seeded(rank: int, n: int):
    torch.cuda.manual_seed(n)

def once(rank: int, n: int):
    torch.cuda.manual_seed(n)  # DEV605
# file: start.py
import torch
from work import once, seeded

def main(n: int):
    torch.manual_seed(n)
    torch.multiprocessing.spawn(seeded, nprocs=2)
    once(0, n)
# file: other.py
from work import once

def main(n: int):
    once(0, n)
"""


def test_callers_in_other_files_set_the_seed(tmp_path: Path) -> None:
    check(SEEDS, "DEV605", tmp_path)


WRAPPERS = """
# file: ops/__init__.py
# file: ops/backend.py
from torch.utils.cpp_extension import load

kernels = load(name="grid", sources=["grid.cu", "bindings.cpp"])
# file: ops/late.py
from torch.utils.cpp_extension import load_inline

def built():
    return load_inline("scan", cpp_sources="", cuda_sources="...")
# file: ops/grid.py
import torch
from torch.cuda.amp import custom_fwd

try:
    import _grid as kernels
except ImportError:
    from .backend import kernels
from . import late

class Grid(torch.autograd.Function):
    @staticmethod
    @custom_fwd(cast_inputs=torch.float32)
    def forward(ctx, x):
        torch.cuda.synchronize()
        return kernels.grid(x)

def encode(x):
    torch.cuda.synchronize()
    return Grid.apply(x)

def scan(x):
    torch.cuda.synchronize()
    return late.built().scan(x)

def maybe(x):
    torch.cuda.synchronize()  # DEV605
    if x.dim() > 2:
        return Grid.apply(x)
    return x
# file: ops/deform.py
import torch
from torch.cuda.amp import custom_fwd

from ops import _C

class Deform(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return _C.deform(x)

    @staticmethod
    def backward(ctx, grad):
        torch.cuda.synchronize()
        return _C.deform_backward(grad)

deform = Deform.apply

class Layer(nn.Module):
    @custom_fwd(cast_inputs=torch.float32)
    def forward(self, x):
        return deform(x)

class Other(nn.Module):
    @custom_fwd(cast_inputs=torch.float32)  # DEV605
    def forward(self, x):
        return x

layer, other = Layer(), Other()
layer.forward(torch.ones(3))
other.forward(torch.ones(3))
# file: ops/compress.py
import torch

try:
    from cpm_kernels.kernels.base import KernelFunction, LazyKernelCModule

    class Kernel:
        def __init__(self, code):
            self.compress = KernelFunction(LazyKernelCModule(code), "compress")

    kernels = Kernel(b"...")
except Exception as error:
    kernels = None

def compress(x):
    with torch.cuda.device(x.device):
        torch.cuda.synchronize()
        kernels.compress(x)

def extract(x, bits: int):
    if bits == 4:
        run = kernels.extract4
    else:
        run = kernels.extract8
    with torch.cuda.device(x.device):
        run(x)

def whichever(x, bits: int):
    run = kernels.extract4
    if bits == 8:
        run = x.mul_
    with torch.cuda.device(x.device):  # DEV605
        run(x)

# file: gradient.py
import torch

class OnCuda(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if not x.is_cuda:
            raise NotImplementedError
        return x

    @staticmethod
    def backward(ctx, grad):
        torch.cuda.synchronize()
        return grad

class Anywhere(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if not x.is_floating_point():
            raise NotImplementedError
        return x

    @staticmethod
    def backward(ctx, grad):
        torch.cuda.synchronize()  # DEV605
        return grad
"""


def test_wrappers_of_compiled_kernels_are_for_cuda(tmp_path: Path) -> None:
    assert len(check(WRAPPERS, "DEV605", tmp_path)) == 4


MODULES = """
# file: setup.py
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

setup(name="layers", ext_modules=[CUDAExtension("layers.gpu", ["gpu.cu"])])
# file: layers/__init__.py
# file: layers/functions/__init__.py
from .norm import *
# file: layers/functions/norm.py
import torch

if torch.cuda.device_count() > 0:
    from layers import gpu

class norm_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return gpu.norm(x)

norm = norm_.apply

def other(x):
    return x
# file: layers/modules.py
import torch
from .functions import *

class Norm(torch.nn.Module):
    def __init__(self, inplace):
        super().__init__()
        self.inplace = inplace
        self.places = list(range(torch.cuda.device_count()))

    def forward(self, x):
        if self.inplace:
            return norm(x)
        else:
            return norm(x.clone())

class Perhaps(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.places = list(range(torch.cuda.device_count()))  # DEV605

    def forward(self, x):
        if x.is_cuda:
            x = norm(x)
        return x

class Other(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.places = list(range(torch.cuda.device_count()))  # DEV605

    def forward(self, x):
        return other(x)
"""


def test_modules_that_always_run_kernels_of_their_package_are_for_cuda(tmp_path: Path) -> None:
    assert len(check(MODULES, "DEV605", tmp_path)) == 2


BENCHMARK = """
import torch
import triton

device = {device}

def time_of(step):
    step()
    torch.cuda.synchronize(){mark}

@{decorator}
def measured(size):
    data = torch.randn(size, device=device)
    return time_of(lambda: data @ data.T)

measured.run()
"""


@pytest.mark.parametrize(
    ("device", "decorator", "severity"),
    [
        ('"cuda:0"', "triton.testing.perf_report(triton.testing.Benchmark())", Severity.INFO),
        ('"cuda:0"', "torch.no_grad()", Severity.WARNING),
        ("torch.device(input())", "triton.testing.perf_report(triton.testing.Benchmark())", Severity.WARNING),
    ],
    ids=["a benchmark", "no benchmark", "a device of the user's"],
)
def test_a_benchmark_may_write_out_the_device_at_the_top(device: str, decorator: str, severity: Severity) -> None:
    program = BENCHMARK.format(device=device, decorator=decorator, mark="  # DEV605")
    assert [one.severity for one in check(program, "DEV605")] == [severity]


COMPILED = """
# file: ops/__init__.py
# file: ops/loading.py
import importlib

if True:
    def load_ext(name):
        return importlib.import_module("ops." + name)

def load_table(name):
    return name
# file: ops/boxes.py
import torch
from . import loading
from .loading import load_table

ext = loading.load_ext("_ext")
table = load_table("_table")

def boxes(x):
    torch.cuda.set_device(x.get_device())  # DEV605
    return ext.boxes(x)

def boxes_in_time(x):
    torch.cuda.synchronize()  # DEV605
    return ext.boxes(x)

def boxes_of_table(x):
    torch.cuda.set_device(x.get_device())  # DEV605
    return table.boxes(x)

def boxes_or_none(x):
    torch.cuda.set_device(x.get_device())  # DEV605
    if x.numel():
        return ext.boxes(x)
"""


def test_where_a_compiled_module_runs_its_kernels_is_only_an_information(tmp_path: Path) -> None:
    found = check(COMPILED, "DEV605", tmp_path)
    informed = [one.region.start.row for one in found if one.severity == Severity.INFO]
    assert informed == [one.region.start.row for one in found][:1]


@pytest.mark.parametrize(
    ("begin", "severity"),
    [("", Severity.INFO), ("def __getattr__(name):\n    return find(name)\n", Severity.WARNING)],
    ids=["compiled", "computed by the package"],
)
def test_what_a_package_computes_is_no_compiled_module(tmp_path: Path, begin: str, severity: Severity) -> None:
    program = f"""
# file: tools/__init__.py
import torch
{begin}
# file: tools/train.py
import torch
from tools import Trainer

def main(rank):
    torch.cuda.set_device(rank)  # DEV605
    trainer = Trainer(rank)
    return trainer
"""
    (found,) = check(program, "DEV605", tmp_path)
    assert found.severity == severity


def test_a_file_may_say_that_it_is_for_cuda(tmp_path: Path) -> None:
    program = """
# file: tools/cuda_memory.py
import torch

def peak():
    return torch.cuda.max_memory_allocated()
# file: tools/memory.py
import torch

def peak():
    return torch.cuda.max_memory_allocated()  # DEV605
"""
    assert len(check(program, "DEV605", tmp_path)) == 1


def test_a_name_is_reported_once_for_a_statement() -> None:
    program = """
events = [torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)]  # DEV605
stream = other = events[0]
with torch.cuda.stream(stream):  # DEV605
    with torch.cuda.stream(other):  # DEV605
        print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())  # DEV605
"""
    assert len(check(program, "DEV605")) == 5
    (found,) = check("states = torch.cuda.get_rng_state_all()  # DEV605\n", "DEV605")
    assert found.help == (
        "it needs torch 2.4 or newer; the modules of mps, cpu have none;"
        " ask for the device first: without CUDA, `torch.cuda.get_rng_state_all` gives []"
    )


CALLERS = """
# file: helpers.py
import torch

def spread(model, data):
    torch.cuda.synchronize()
    return [model(data, index) for index in range(torch.cuda.device_count())]

def always(model, data):
    torch.cuda.synchronize()  # DEV605
    return model(data)

def sometimes(model, data):
    torch.cuda.synchronize()  # DEV605
    return model(data)

def needed(model, data):
    torch.cuda.synchronize()
    return model(data)

def asked_in_vain(model, data):
    torch.cuda.synchronize()  # DEV605
    return model(data)
# file: train.py
import torch
from helpers import always, asked_in_vain, needed, sometimes, spread

def train(model, data, device):
    if device.type == "cuda" and torch.cuda.device_count() > 1:
        spread(model, data)
        sometimes(model, data)
    else:
        always(model, data)
    return sometimes(model, data) if device.type != "cuda" else spread(model, data)

def main(model, data):
    if not torch.cuda.is_available():
        raise RuntimeError("no CUDA")
    return needed(model, data)

def other(model, data):
    if not torch.cuda.is_available():
        print("slow")
    return asked_in_vain(model, data)
"""


def test_functions_whose_callers_ask_for_cuda_are_for_cuda(tmp_path: Path) -> None:
    check(CALLERS, "DEV605", tmp_path)


USERS = """
# file: timers.py
import torch

class Timer:
    def start(self):
        self.event = torch.cuda.Event(enable_timing=True)

class Watch:
    def start(self):
        self.event = torch.cuda.Event(enable_timing=True)  # DEV605

def wait():
    torch.cuda.synchronize()

def wait_always():
    torch.cuda.synchronize()  # DEV605

def set_up(rank: int):
    torch.cuda.set_device(rank)

def set_up_without(rank: int):
    torch.cuda.set_device(rank)  # DEV605

def set_up_perhaps(rank: int):
    torch.cuda.set_device(rank)  # DEV605
# file: main.py
import torch
from timers import Timer, Watch, set_up, set_up_perhaps, set_up_without, wait, wait_always

def measure(model):
    wait()
    wait_always()
    return model()

def choose(ids, rank: int):
    if ids[0] < 0 or not torch.cuda.is_available():
        set_up_without(rank)
    else:
        set_up(rank)
    if ids[0] < 0 and not torch.cuda.is_available():
        print("slow")
    else:
        set_up_perhaps(rank)

def main(model, device):
    if device.type != "cuda" or not torch.cuda.is_available():
        raise RuntimeError("one CUDA GPU is needed")
    timer = Timer()
    timer.start()
    return measure(model)

def other(model, device):
    if device.type == "cpu" and not torch.cuda.is_available():
        raise RuntimeError("an accelerator is needed")
    watch = Watch()
    watch.start()
    wait_always()
    return model()
"""


def test_what_is_named_only_behind_a_check_is_for_cuda_through_other_functions_too(tmp_path: Path) -> None:
    check(USERS, "DEV605", tmp_path)


CONSTRUCTORS = """
# file: engine/__init__.py
from engine.base import Base
# file: engine/base.py
import abc
import torch
from elsewhere import Mixin

class Base(Mixin, abc.ABC):
    def __init__(self, options):
        self.options = options
        if not torch.cuda.is_available():
            raise RuntimeError("no CUDA")

class Lenient:
    def __init__(self):
        if not torch.cuda.is_available():
            return
        self.ready = True

    def run(self):
        torch.cuda.synchronize()  # DEV605
# file: engine/runner.py
import torch
from engine import base
from . import Base

class Runner(Base):
    def __init__(self, options):
        super().__init__(options)

class Tester(Runner):
    def run(self):
        torch.cuda.synchronize()

class Trainer(base.Base):
    def run(self):
        torch.cuda.synchronize()

class Apart(Base):
    def __init__(self):
        self.options = None

    def run(self):
        torch.cuda.synchronize()  # DEV605

class Calm(base.Lenient):
    def run(self):
        torch.cuda.synchronize()  # DEV605
"""


def test_classes_whose_constructor_or_that_of_a_base_refuses_are_for_cuda(tmp_path: Path) -> None:
    check(CONSTRUCTORS, "DEV605", tmp_path)


HALF_IN_TESTS = """
# file: train.py
import torch

def train(model, x):
    scaler = torch.cuda.amp.GradScaler(){}
    return scaler.scale(model(x))
# file: {}.py
def check(model):
    {}
# file: test_scaler.py
import torch

def test_it(model, x):
    with torch.autocast("cpu", dtype=torch.float16):
        return torch.cuda.amp.GradScaler().scale(model(x))  # DEV605
"""


@pytest.mark.parametrize(
    ("name", "line", "counts"),
    [
        ("test_model", "model.half()", False),
        ("model", "model.half()", True),
        ("model", "return model  # model.half()", False),
    ],
)
def test_half_precision_in_tests_and_comments_is_none_of_a_training(
    tmp_path: Path, name: str, line: str, counts: bool
) -> None:
    check(HALF_IN_TESTS.format("  # DEV605" if counts else "", name, line), "DEV605", tmp_path)


@pytest.mark.parametrize(
    ("top", "refuses"),
    [
        ("assert torch.cuda.is_available(), 'no CUDA'", True),
        ("if not torch.cuda.is_available():\n    raise SystemExit", True),
        ("assert torch.accelerator.is_available()", False),
        ("if not torch.cuda.is_available():\n    print('slow')", False),
        ("if torch.cuda.is_available():\n    raise SystemExit", False),
    ],
)
def test_a_file_that_refuses_to_run_without_cuda_is_for_cuda(top: str, refuses: bool) -> None:
    reported = "" if refuses else "  # DEV605"
    check(f"{top}\n\ndef wait():\n    torch.cuda.synchronize(){reported}\n", "DEV605")


@pytest.mark.parametrize(
    ("shim", "redirects"),
    [
        ("import mindspeed.megatron_adaptor", True),
        ("from torch_npu.contrib import transfer_to_npu", True),
        ("import torch_npu", False),
        ("import mindspeed_like", False),
    ],
)
def test_a_package_that_redirects_torch_cuda_is_left_alone(tmp_path: Path, shim: str, redirects: bool) -> None:
    reported = "" if redirects else "  # DEV605"
    program = f"""
# file: package/__init__.py
try:
    {shim}
except ImportError:
    pass
# file: package/inner/__init__.py
# file: package/inner/waits.py
import torch

def wait():
    torch.cuda.synchronize(){reported}
# file: outside.py
import torch

def wait():
    torch.cuda.synchronize()  # DEV605
"""
    check(program, "DEV605", tmp_path)


@pytest.mark.parametrize(
    ("check_of_flag", "needs"),
    [
        ("if args.fp16 and not torch.cuda.is_available():\n        raise ValueError('fp16 is for CUDA')", True),
        ("if args.fp16:\n        if device.type != 'cuda':\n            raise ValueError('fp16 is for CUDA')", True),
        ("if not torch.cuda.is_available():\n        args.fp16 = False", True),
        ("if args.fp16 and not torch.cuda.is_available():\n        print('slow')", False),
        ("if args.fp16 and torch.cuda.is_available():\n        raise ValueError('fp16 is not for CUDA')", False),
        ("if args.bf16 and not torch.cuda.is_available():\n        raise ValueError('bf16 is for CUDA')", False),
        ("if not torch.cuda.is_available():\n        args.fp16 = True", False),
    ],
)
def test_a_flag_that_is_refused_or_cleared_without_cuda(check_of_flag: str, needs: bool) -> None:
    program = f"""
def prepare(args, device):
    {check_of_flag}

def train(args, step):
    step()
    if args.fp16:
        torch.cuda.synchronize(){"" if needs else "  # DEV605"}
    else:
        torch.cuda.synchronize()  # DEV605
"""
    check(program, "DEV605")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ('wanted and str(device).startswith("cuda")', False),
        ('bool(device.type == "cuda" and wanted)', False),
        ("not wanted and torch.cuda.is_available()", False),
        ('wanted or str(device).startswith("cuda")', True),
        ('str(device).startswith("xpu")', True),
        ("wanted", True),
    ],
)
def test_a_flag_that_its_function_sets_by_asking_for_cuda(given: str, found: bool) -> None:
    program = f"""
def train(step, device, wanted):
    fast = {given}
    for _ in range(3):
        if fast and wanted:
            torch.cuda.synchronize(){"  # DEV605" if found else ""}
        step()
"""
    check(program, "DEV605")


@pytest.mark.parametrize(
    "another",
    ["fast = wanted", "for fast in wanted: pass", "fast, _ = wanted", "fast |= wanted"],
)
def test_a_flag_that_is_set_in_another_way_too(another: str) -> None:
    program = f"""
def train(step, device, wanted):
    fast = str(device).startswith("cuda")
    if wanted:
        {another}
    if fast:
        torch.cuda.synchronize()  # DEV605
"""
    check(program, "DEV605")


def test_a_flag_of_an_object_or_of_the_caller() -> None:
    program = """
class Timer:
    def __init__(self, device, wanted):
        self.fast = False
        if wanted:
            self.fast = device.type == "cuda"
        self.exact = wanted

    def stop(self):
        if self.fast:
            torch.cuda.synchronize()
        if self.exact:
            torch.cuda.synchronize()  # DEV605

def stop(fast, device):
    if fast:
        torch.cuda.synchronize()  # DEV605
"""
    check(program, "DEV605")


INNER_IMPORTS = """
# file: caches.py
import torch

class Cache:
    def wait(self):
        torch.cuda.synchronize(){found}
# file: train.py
import torch

def train(step, device):
    fast = step.wanted and str(device).startswith("cuda")
    if fast:
        from caches import Cache

        return Cache().wait()
{more}
"""


@pytest.mark.parametrize("more", ["", "    from caches import Cache\n    return Cache().wait()"])
def test_a_class_that_functions_import_and_use_only_with_cuda(tmp_path: Path, more: str) -> None:
    check(INNER_IMPORTS.format(found="  # DEV605" if more else "", more=more), "DEV605", tmp_path)


def test_a_function_of_another_file_that_refuses_to_run_without_cuda(tmp_path: Path) -> None:
    program = """
# file: tools/__init__.py
from .checks import ask_for_gpu, need_gpu
# file: tools/checks.py
import torch

def need_gpu():
    if not torch.cuda.is_available():
        raise RuntimeError("a GPU is needed")

def ask_for_gpu():
    if not torch.cuda.is_available():
        print("a GPU would be faster")
# file: train.py
import torch
import tools.checks as checks
from tools import ask_for_gpu, need_gpu
from elsewhere import need_more

def train(step):
    need_gpu()
    step()
    torch.cuda.synchronize()

def test(step):
    checks.need_gpu()
    step()
    torch.cuda.synchronize()

def try_out(step):
    ask_for_gpu()
    checks.ask_for_gpu()
    need_more()
    step()
    torch.cuda.synchronize()  # DEV605
"""
    check(program, "DEV605", tmp_path)
