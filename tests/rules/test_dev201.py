"""Transfers whose result is thrown away."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import check_paths

from .programs import PRELUDE, check, lint

BAD = {
    "what is frozen, and nothing shows to be a model": """
from makers import make

class Clip:
    def __init__(self, device):
        self.table = make(device)
        self.table = self.table.first().requires_grad_(False)

class Pipe:
    def __init__(self, device):
        self.device = device
        self.clip = Clip(device)

    def generate(self, img):
        self.clip.table.to(self.device)  # DEV201
        return self.clip.table * img
""",
    "batches, where another error is handled": """
from torch.utils.data import DataLoader

def evaluate(model, dataset):
    model.eval()
    for batch in DataLoader(dataset, batch_size=4):
        try:
            batch.to(model.device)  # DEV201
        except KeyError:
            pass
        print(model(batch))
""",
    "a tensor, whatever is handled": """
def show(x: torch.Tensor):
    try:
        x.to("cuda")  # DEV201
    except Exception:
        pass
    return x + 1
""",
    "to where one of two arguments is": """
def steps(k: torch.Tensor, m: torch.Tensor):
    b = torch.sqrt(4 * m ** 2 + 1)
    b.to(k.device)  # DEV201
    return b * k

x = torch.ones(3).cuda()
print(steps(x, x))
""",
    "a transfer before the work of which the time is measured": """
import time

def measure(net, device):
    x = torch.ones(3)
    begin = time.perf_counter()
    x.to(device)  # DEV201
    y = net(x)
    torch.cuda.synchronize()
    return y, time.perf_counter() - begin

measure(nn.Linear(3, 3), torch.device("cuda"))
""",
    "compared in a loss": """
def train(model, loader, criterion, device):
    for graphs, labels, masked in loader:
        node_labels, _ = masked
        labels.to(device)  # DEV201
        node_labels.to(device)  # DEV201
        output = model(graphs.to(device))
        loss = criterion(output, labels) + criterion(output[0], node_labels)
        loss.backward()
""",
    "asked to be somewhere else than before": """
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_sum(device, other):
    batch = torch.arange(3).to(device)
    batch.to(other)  # DEV201
    batch.to(device, torch.float32)  # DEV201
    first = torch.arange(3).to(device)
    device = other
    first.to(device)  # DEV201
    return batch, first
""",
    "parts of the batches of a caller's loader": """
def train(model, loader, optimizer, device):
    model.train()
    criterion = nn.CrossEntropyLoss()
    for x, y in loader:
        x.to(device)  # DEV201
        y.to(device)  # DEV201
        loss = criterion(model(x), y)
""",
    "moved as a statement": """
t = torch.zeros(3)
t.to("cuda")  # DEV201
print(t)
""",
    "each kind of transfer": """
t = torch.zeros(3, requires_grad=True)
t.cuda()  # DEV201
t.half()  # DEV201
t.double()  # DEV201
t.type(torch.int64)  # DEV201
t.detach()  # DEV201
t.pin_memory()  # DEV201
t.to(torch.float16)  # DEV201
""",
    "in a function that names its argument a tensor": """
def forward(x: torch.Tensor, device):
    x.to(device)  # DEV201
    return x + 1
""",
    "by evidence of use": """
def prepare(images):
    images.cuda()  # DEV201
    return images.unsqueeze(0)
""",
    "batches of a loader": """
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.rand(8, 3), torch.rand(8)))
model = nn.Linear(3, 1).cuda()
for x, y in loader:
    x.to("cuda")  # DEV201
    y.to("cuda")  # DEV201
    print(x.sum())
""",
    "each tensor of a list": """
views = [torch.rand(3), torch.rand(4)]
for view in views:
    view.to("cuda")  # DEV201
""",
    "an attribute of a module": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(3)
        self.scale.cuda()  # DEV201
""",
    "an entry of a dict": """
batch = {"x": torch.zeros(3)}
batch["x"].to("cuda")  # DEV201
""",
    "a chain": """
out = torch.zeros(3, device="cuda")
out.detach().cpu()  # DEV201
""",
    "after isinstance": """
def store(value, kept):
    if isinstance(value, torch.Tensor):
        value.detach()  # DEV201
        value.cpu()  # DEV201
    kept.append(value)
""",
    "where something else is": """
class Net(nn.Module):
    def forward(self, encoded):
        return self._steps(encoded.concentration)

    def _steps(self, k: torch.Tensor):
        c, d = torch.rand(3), k + 1
        c.to(k.device)  # DEV201
        d = torch.zeros(k.shape)
        d.to(k.device)  # DEV201
        return k * c + d
""",
    "what was a list before": """
def sample(net, count, device):
    index = []
    for i in range(count):
        index.extend(range(i))
    index = torch.tensor(index)
    index.to(device)  # DEV201
    return net(index)
""",
    "an argument that the function only moves": """
def to_host(x: torch.Tensor, y: torch.Tensor):
    x.cpu()  # DEV201
    y.relu_()
    y.cuda()  # DEV201
""",
    "beside a clock that measures more": """
import time
def measure(x: torch.Tensor, net):
    start = time.time()
    x.cuda()  # DEV201
    y = net(x + 1)
    return y, time.time() - start
""",
    "what another statement moves first, and what is read afterwards": """
def prepare(device):
    x, y = torch.rand(3), torch.rand(3)
    x.to(device)  # DEV201
    y = y.cpu()
    for _ in range(3):
        print(x + y)
        z = torch.rand(3)
        z.to("cuda")  # DEV201
        x = x + z
    kept = torch.rand(3)
    for _ in range(3):
        print(kept)
        kept.cuda()  # DEV201
""",
    "memory that is not pinned": """
def prepare():
    x = torch.rand(3)
    x.pin_memory()  # DEV201
    return x
""",
    "a parameter": """
layer = nn.Linear(3, 3)
layer.weight.cuda()  # DEV201
""",
    "an input that is reshaped": """
class Pair:
    def __init__(self, pixels=None):
        self.pixels = pixels

    def to(self, device: str):
        self.pixels.to(device=device)  # DEV201
        return self

    def rows(self, batch_size):
        return self.pixels.reshape(batch_size, -1).unsqueeze(0)
""",
}

GOOD = {
    "a model of unknown class, frozen after eval": """
from makers import make

class Clip:
    def __init__(self, device):
        self.model = make(device)
        self.model = self.model.eval().requires_grad_(False)

class Pipe:
    def __init__(self, device):
        self.device = device
        self.clip = Clip(device)

    def generate(self, img):
        self.clip.model.to(self.device)
        out = self.clip.model(img)
        return out
""",
    "several transfers of which the time is measured": """
import time

def sync(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)

def measure(device):
    x, y, times = torch.ones(3).pin_memory(), torch.ones(3).pin_memory(), []
    for _ in range(5):
        sync(device)
        if device.type == "cuda":
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            x.to(device, non_blocking=True)
            (y.to(device, non_blocking=True) if y is not None else None)
            end.record()
            sync(device)
            times.append(start.elapsed_time(end))
        else:
            begin = time.perf_counter_ns()
            x.to(device)
            y.to(device)
            sync(device)
            times.append(time.perf_counter_ns() - begin)
    return times, x, y

measure(torch.device("cuda"))
""",
    "a module that comes back": """
def save(net, path):
    torch.save(net.cpu().state_dict(), path)
    net.cuda()
""",
    "compared in a loss, and no tensor": """
def train(model, loader, criterion, loss_fn, device):
    for batch, encoding, graph in loader:
        batch.to(device)
        encoding.to(device)
        graph.to(device)
        criterion(model(batch.input_ids), batch)
        loss_fn(batch)
        loss_fn(encoding, batch, graph)

class Trainer:
    def run(self, x, loss_fn, criterion):
        self.net.to("cpu")
        loss_fn(self.net, x)
        criterion(self.net, x)
""",
    "already where it is asked to be": """
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_sum(device):
    batch = torch.arange(3).to(device)
    batch.to(device)
    assert batch.sum() == 3

def total(x: torch.Tensor):
    y = torch.rand(3, device=x.device)
    y.to(x.device)
    return x.sum() + y.sum()
""",
    "graphs of a caller's loader, which move themselves": """
def train(model, loader, device):
    model.train()
    for batch in loader:
        batch.split = "train"
        batch.to(device)
        predicted, true = model(batch)

def evaluate(model, loader, device):
    model.eval()
    for graph, name in loader:
        graph.to(device)
        loss = nn.functional.mse_loss(model(graph), graph.y)
""",
    "modules of a caller's pairs": """
def compare(pairs, evaluate, device):
    for name, model in pairs:
        model.to(device)
        evaluate(model)

def predict(model, x):
    return evaluate_with(model, x.to(model.device))

def wrap(pairs, head, device):
    for model, x in pairs:
        model.to(device)
        predict(model, x)
        nn.DataParallel(model), nn.Sequential(model, head), torch.compile(model), torch.jit.script(model)

def run(pairs, data, device):
    for model, batch in pairs:
        model.to(device)
        batch = batch.to(device)
        print(model(batch), nn.functional.relu(batch))
""",
    "a module moves itself": """
model = nn.Linear(3, 3)
model.to("cuda")
model.half()
nn.Sequential(nn.Linear(3, 3)).cuda()
""",
    "a module among the arguments": """
def train(model, criterion, device):
    model.to(device)
    criterion.to(device)
    model.train()
    for p in model.parameters():
        print(p.shape)
""",
    "what is called is no tensor": """
def evaluate(net, x):
    net.cuda()
    return net(x)
""",
    "no evidence": """
def prepare(batch, device):
    batch.to(device)
    return batch
""",
    "containers that move in place": """
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("gpt2")
inputs = tokenizer("a text", return_tensors="pt")
inputs.to("cuda")
print(inputs.input_ids)
""",
    "a class with a `to` of its own": """
class Batch:
    def __init__(self, x):
        self.x = x

    def to(self, device):
        self.x = self.x.to(device)
        return self

batch = Batch(torch.zeros(3))
batch.to("cuda")
""",
    "assigned, passed, returned": """
def move(x: torch.Tensor, rest: list):
    x = x.to("cuda")
    y = x.cpu()
    rest.append(y.detach())
    print(x.float())
    return y.half()
""",
    "waking the device up": """
torch.zeros(1).cuda()
torch.empty(1, device="cpu").to("cuda")
""",
    "waiting for the result of a call": """
import time
def measure(model, x: torch.Tensor):
    start = time.time()
    model(x).cpu()
    return time.time() - start
""",
    "a transfer that must fail": """
import pytest
def test_no_such_device():
    x = torch.tensor([1.0])
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        x.to("cuda:99")
""",
    "in place": """
x = torch.zeros(3)
x.detach_()
x.requires_grad_()
x.copy_(torch.ones(3))
""",
    "the data of a parameter": """
for p in nn.Linear(3, 3).parameters():
    p.data = p.data.cuda()
""",
    "the copy is what is timed": """
import time
def measure(x: torch.Tensor):
    start = time.time()
    x.cpu()
    print(time.time() - start)
    for _ in range(100):
        x.cuda()
    print(time.time() - start)
def measure_each(x: torch.Tensor, rounds, device):
    for _ in range(rounds):
        start = time.perf_counter()
        x.to(device)
        torch.cuda.synchronize()
        print(time.perf_counter() - start)
""",
    "what the next statement does": """
def adjacency(net, x, device):
    scores = torch.softmax(x.relu(), -1)
    scores.to(device)
    scores = scores.cpu().detach().numpy()
    return scores
""",
    "an argument that has been computed with": """
def scale(net: nn.Linear, scales: torch.Tensor):
    net.weight.data.mul_(scales.to(net.weight.device))
    net.cpu()
    scales.cpu()
""",
    "where what it is computed from is": """
class Net(nn.Module):
    def forward(self, encoded):
        return self._steps(3, encoded.concentration)

    def _steps(self, m, k: torch.Tensor):
        c = torch.sqrt(4 * k ** 2 + (m - 1) ** 2)
        b = (-2 * k + c) / (m - 1)
        b.to(k.device)
        return b + torch.zeros_like(k)
""",
    "what nothing reads afterwards": """
def sample(net):
    noise = torch.rand(3, device="cuda")
    image = net(noise)
    noise.to("cpu")
    return image
""",
    "a model by its frozen weights": """
class Codec(nn.Module):
    def __init__(self, model, half=False):
        super().__init__()
        self.model = model
        self.model.requires_grad_(False).eval()
        if half:
            self.model.half()
""",
    "to where it is, whoever calls": """
from shapes_elsewhere import concentration

def steps(k: torch.Tensor):
    b = torch.sqrt(4 * k ** 2 + 1)
    b.to(k.device)
    return b * k

print(steps(concentration()), steps(concentration().relu()))
""",
    "batches that may be dicts, as the handler knows": """
from torch.utils.data import DataLoader

def evaluate(model, dataset):
    model.eval()
    for batch in DataLoader(dataset, batch_size=4):
        try:
            batch.to(model.device)
        except:
            pass
        print(model(batch))
""",
    "a frozen model that only the program's unknown code makes": """
from codecs_elsewhere import make

class Codec(nn.Module):
    def __init__(self, model, half=False):
        super().__init__()
        self.model = model
        self.model.requires_grad_(False).eval()
        if half:
            self.model.half()

codec = Codec(make("a"), half=bool(make("b")))
""",
    "what is reshaped in place": """
class Pair:
    def __init__(self, text_model=None):
        self.text_model = text_model

    def to(self, device: str):
        self.text_model.to(device=device)
        return self

    def reshape(self, batch_size):
        self.text_model.reshape(batch_size=batch_size)
        return self
""",
    "memory that is pinned already": """
class Memory:
    def __init__(self):
        self.features = torch.rand(3, 3).pin_memory()
        self.features.pin_memory()
""",
    "a module that was converted and moved": """
def prepare(model):
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model).to("cuda")
    model.half().float()
    return model
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV201")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV201")


def test_the_finding_says_what_the_tensor_still_is() -> None:
    (found,) = check("mask = torch.ones(3)\nmask.cuda()  # DEV201\n", "DEV201")
    assert found.message == "the tensor that `mask.cuda()` returns is thrown away: `mask` stays on cpu"
    assert found.help == "keep the result: `mask = mask.cuda()`"
    assert [note.region.start.row for note in found.trace] == [5]


def test_in_a_loop_over_a_list_the_advice_is_a_new_list() -> None:
    (found,) = check("ts = [torch.ones(3)]\nfor t in ts:\n    t.to('cuda')  # DEV201\n", "DEV201")
    assert found.help == "keep the result: `ts = [t.to('cuda') for t in ts]`"


def test_the_step_of_a_supposed_tensor_is_where_it_is_passed_to_a_loss() -> None:
    (finding,) = check(
        """
def train(model, loader, device):
    criterion = nn.CrossEntropyLoss()
    for images, labels in loader:
        labels.to(device)  # DEV201
        criterion(model(images), labels).backward()
""",
        "DEV201",
    )
    assert [(note.message, note.region.start.row) for note in finding.trace] == [
        ("`labels` is passed to a loss", 10),
    ]


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("half", "`x` made in float32 by `torch.zeros`, torch's default"),
        ("cuda", "`x` created on the host by `torch.zeros`, which was given no device"),
    ],
)
def test_the_step_tells_of_what_the_call_would_change(method: str, told: str) -> None:
    (found,) = check(f"x = torch.zeros(3)\nx.{method}()  # DEV201\n", "DEV201")
    assert [note.message for note in found.trace] == [told]


TRACKER = """\
from base import Tracker

class Own(Tracker):
    def track(self, model):
        if self.area is None:
            self.area = self.dataset.test_data.clone()
            self.area.to(model.device)
        self.area{use}[model.ids] += model.get()

    def reset(self):
        self.area = None

    def finalise(self):
        if self.area:
            return self.area{use}[0].numpy()
"""


@pytest.mark.parametrize(("use", "found"), [("", ["DEV201"]), (".votes", [])])
def test_an_object_with_attributes_that_no_tensor_has_moves_in_place(
    tmp_path: Path, use: str, found: list[str]
) -> None:
    (tmp_path / "base.py").write_text(
        "class Tracker:\n    def __init__(self, dataset):\n        self.dataset = dataset\n"
    )
    (tmp_path / "own.py").write_text(TRACKER.format(use=use))
    result = check_paths([tmp_path], isolated=True)
    assert not result.errors
    assert [one.code for one in result.diagnostics] == found
    # The constructor's parameter, from which the tensor comes, is in the text of another class.
    assert [step.region.start.row for one in result.diagnostics for step in one.trace] == [2] * len(found)


def test_the_uses_of_a_value_of_unknown_class_may_be_those_of_a_module() -> None:
    """What else than its uses shows a tensor makes a finding certain."""
    source = """
from somewhere import read

def encode(path):
    x = read(path)
    x.cuda()
    return x.unsqueeze(0)

def encode_tensor(x: torch.Tensor):
    x.cuda()
    return x.unsqueeze(0)
"""
    found = lint(PRELUDE + source, frozenset({"DEV201"}))
    assert [one.confidence.value for one in found] == ["likely", "certain"]
    assert [[each.message for each in one.assumptions] for one in found] == [["`x` is a tensor"], []]
