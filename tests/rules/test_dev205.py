"""Devices compared so that the answer is always the same."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "a transfer and more, of what there is": """
def moved(x: torch.Tensor, much):
    if much and x.device != "cpu":  # DEV205
        return x.to("cpu").half()
    else:
        return x
""",
    "branches that differ in more than a transfer": """
def store(kept, x: torch.Tensor):
    device = torch.device("cuda")
    if x.device == device:  # DEV205
        kept[0] = x.detach()
    else:
        kept[0] = x.float().to(device)
    if x.device != "cpu":  # DEV205
        torch.cuda.empty_cache()
        x = x.half()
    return x
""",
    "with a string": """
x = torch.zeros(3)
if x.device == "cuda":  # DEV205
    x = x.half()
if "cpu" == x.device:  # DEV205
    x = x.float()
if x.device != "cuda:0":  # DEV205
    print("slow")
""",
    "a tensor's device with a word that names no device": """
x = torch.zeros(3)
if x.device == "gpu":  # DEV205
    x = x.half()
""",
    "a device bound to a name": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if device == "cuda":  # DEV205
    torch.backends.cudnn.benchmark = True
""",
    "of an argument that is a tensor": """
def attend(q: torch.Tensor):
    return fast(q) if q.device == "cuda" else slow(q)  # DEV205
""",
    "of a parameter of the module": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        if self.fc.weight.device == "cuda":  # DEV205
            x = x.half()
        return self.fc(x)
""",
    "with a device that has no index": """
x = torch.zeros(3, device="cuda")
if x.device == torch.device("cuda"):  # DEV205
    print("fast")
assert torch.device("mps") != x.device  # DEV205
""",
    "with a name for such a device": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.zeros(3, device=device)
assert x.device == device  # DEV205
""",
    "in a function that is only given devices": """
def is_fast(device):
    return device == "cuda"  # DEV205
print(is_fast(torch.device("cuda")), is_fast(torch.device("cpu")))
""",
    "a guard of something else": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.zeros(3, device=device)
if x.device != device:  # DEV205
    raise ValueError("on another device")
if x.device != torch.device("cuda"):  # DEV205
    x = x.cuda()
else:
    print("already there")
if x.device != torch.device("cuda"):  # DEV205
    for one in x:
        print(one)
if x.device != torch.device("cuda"): print("elsewhere")  # DEV205
""",
    "a checkpoint that a host alone cannot load, or that is not given to a module": """
class Model:
    def __init__(self):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.net = nn.Linear(3, 3)

    def without_target(self, path):
        state = torch.load(path, map_location="cpu" if self.device == "cpu" else None)  # DEV205
        self.net.load_state_dict(state)

    def always_there(self, path):
        if self.device != "cpu":  # DEV205
            self.net.load_state_dict(torch.load(path))
        else:
            self.net.load_state_dict(torch.load(path, map_location="cpu"))

    def returned(self, path):
        return torch.load(path) if self.device == "cuda" else torch.load(path, map_location="cpu")  # DEV205

    def kept(self, path):
        if self.device == "cuda":  # DEV205
            state = torch.load(path)
        else:
            state = torch.load(path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.mean = state["mean"]

    def of_another_file(self, path):
        if self.device == "cuda":  # DEV205
            self.net.load_state_dict(torch.load(path))
        else:
            self.net.load_state_dict(torch.load(path + ".cpu", map_location="cpu"))
""",
    "expressions that differ in more than a transfer": """
def push(kept, x: torch.Tensor):
    device = torch.device("cuda")
    kept.append(x if x.device == device else x.half().to(device))  # DEV205
    kept.append(x.half() if not x.device == device else x)  # DEV205
""",
    "a device that is taken only where it is no host": """
def own():
    return torch.device("cuda")

def setup():
    device = torch.device("cpu")
    if own() != "cpu":  # DEV205
        device = torch.device("cuda:1")
    return device
""",
    "a device that is not the host, where more than switches of CUDA depend on it": """
import torch.backends.cudnn as cudnn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def set_up(model, many):
    if device == "cuda":  # DEV205
        cudnn.benchmark = True
    if device != "cpu":  # DEV205
        cudnn.benchmark = True
        model = model.half()
    if device != "cpu":  # DEV205
        cudnn.benchmark = True
    else:
        model = model.float()
    if device != "cpu" and many:  # DEV205
        model = nn.DataParallel(model)
    if device != "cpu" or torch.cuda.device_count() > 1:  # DEV205
        model = nn.DataParallel(model)
    if device != "cpu" and torch.cuda.device_count() >= 0:  # DEV205
        model = nn.DataParallel(model)
    return model

def set_up_elsewhere(model, name):
    chosen = torch.device(name)
    if chosen != "cpu" and torch.cuda.device_count() > 1:  # DEV205
        model = nn.DataParallel(model)
    wanted = torch.device("cuda" if name == "gpu" and torch.cuda.is_available() else "cpu")
    if wanted != "cpu" and torch.cuda.device_count() > 1:  # DEV205
        model = nn.DataParallel(model)
    return model
""",
    "strings that nobody else chooses": """
def choose():
    device = "cuda"
    if device == torch.device("cuda"):  # DEV205
        torch.backends.cudnn.benchmark = True

def _set_up(device="cuda"):
    if device == torch.device("cuda"):  # DEV205
        torch.backends.cudnn.benchmark = True

def set_up_by_text(device: str = "cuda"):
    if device == torch.device("cuda"):  # DEV205
        torch.backends.cudnn.benchmark = True

def pass_on(device=None, **options):
    set_up_by_text(options.get("device"))
    return set_up_by_text(device), torch.zeros(3, device=device)

_set_up()
set_up_by_text()
pass_on("cuda")
""",
    "by identity": """
x, y = torch.zeros(3), torch.zeros(3)
if x.device is y.device:  # DEV205
    print(x + y)
if x.device is not y.device:  # DEV205
    raise ValueError("devices differ")
""",
    "the gradient of an operation": """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        if grad.device == "cuda":  # DEV205
            grad = grad.contiguous()
        return grad * 2
""",
}

GOOD = {
    "a device that is not the host, where only CUDA depends on it": """
import torch.backends.cudnn as cudnn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def set_up(model, fast):
    if device != "cpu":
        cudnn.benchmark = True
    if fast and device != "cpu":
        torch.backends.cudnn.benchmark = fast
        torch.backends.cuda.matmul.allow_tf32 = True
    else:
        cudnn.deterministic = True
    if device != "cpu" and torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    if fast and torch.cuda.is_available() and device != "cpu":
        model = model.half()
    return model.to(device)
""",
    "where a checkpoint is loaded to, before a module copies it": """
class Model:
    def __init__(self):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.net = nn.Linear(3, 3)

    def by_branches(self, path):
        if self.device == "cuda":
            state = torch.load(path)
        else:
            state = torch.load(path, map_location=torch.device("cpu"))
        if next(iter(state)).startswith("module."):
            state = {key[7:]: value for key, value in state.items()}
        self.net.load_state_dict(state)

    def by_expression(self, path):
        checkpoint = torch.load(path) if self.device == "cuda" else torch.load(path, map_location="cpu")
        self.net.load_state_dict(checkpoint["net"])

    def by_target(self, path):
        self.net.load_state_dict(torch.load(path, map_location="cpu" if self.device == "cuda" else None))

    def at_once(self, path):
        if self.device != "cpu":
            self.net.load_state_dict(torch.load(path, map_location="cpu"))
        else:
            self.net.load_state_dict(torch.load(path))
""",
    "expressions that differ in a transfer alone": """
def push(kept, x: torch.Tensor):
    device = torch.device("cuda")
    kept.append(x.detach() if x.device == device else x.detach().to(device))
    kept.append(x.to(device) if not x.device == device else x)
""",
    "a transfer of what there is": """
class Sums:
    def to(self, name: str):
        device = torch.device("cuda")
        def moved(x):
            if x is not None and x.device != name:
                return x.to(name)
            else:
                return x
        self.first, self.second = moved(torch.ones(3)), moved(torch.zeros(3))
        if self.first.device != "cpu" and self.second.device != "cpu":
            self.first = self.first.to("cpu")
""",
    "a transfer before another question": """
def gather(x: torch.Tensor, much):
    device = torch.device("cuda")
    if x.device != device:
        x = x.to(device)
    elif much:
        x = x.half()
    return x
""",
    "the compared device itself": """
def own():
    return torch.device("cuda")

def setup():
    device = torch.device("cpu")
    if own() != "cpu":
        device = torch.device(own())
    return device
""",
    "a transfer that both branches could do without": """
def store(kept, x: torch.Tensor):
    device = torch.device("cuda")
    if x.device == device:
        kept[0] = x.detach()
    else:
        kept[0] = x.detach().to(device)
    if x.device == "cuda":
        pass
    else:
        x = x.to(device)
    if x.device != "cpu":
        torch.cuda.empty_cache()
    return x
""",
    "a name chosen among many": """
import os

def pick():
    for name in ("xpu", "npu", "mps"):
        if name in os.environ:
            return name
    return f"cuda:{os.environ['RANK']}"

class Base:
    def __init__(self, device: str | None = None):
        if device is None:
            device = pick()
        if device == "mps":
            print("slow")

Base()
Base(nn.Linear(3, 3).weight.device)
""",
    "types": """
x = torch.zeros(3)
if x.device.type == "cuda":
    x = x.half()
if x.device.type != torch.device("cuda").type:
    x = x.float()
""",
    "two tensors": """
def together(x: torch.Tensor, y: torch.Tensor):
    return x + y if x.device == y.device else x + y.to(x.device)
""",
    "the host": """
x = torch.zeros(3)
if x.device == torch.device("cpu"):
    print("host")
if x.device != torch.device("meta"):
    print("real")
""",
    "both with an index": """
x = torch.zeros(3, device="cuda")
if x.device == torch.device("cuda:0"):
    print("first")
if x.device == torch.device("cuda", 1):
    print("second")
""",
    "strings": """
import argparse
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cuda":
    print("fast")
args = argparse.ArgumentParser().parse_args()
if args.device == "cuda":
    print("fast")
if str(torch.zeros(3).device) == "cuda:0":
    print("first")
""",
    "an argument that may be a string": """
def setup(device="cuda", config=None):
    if device == "cuda":
        torch.backends.cudnn.benchmark = True
    if config.device == "cpu":
        print("slow")
""",
    "two written devices": """
def same(device: torch.device):
    return torch.device("cuda") == device
print(torch.device("cuda") == torch.device("cuda"))
""",
    "the guard of a transfer": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.zeros(3)
if x.device != device:
    x = x.to(device)
if x.device != torch.device("cuda"):
    x = x.cuda()
if x.device != "cpu":
    print("to the host")
    x = x.cpu()
""",
    "None": """
def place(device: torch.device | None, x: torch.Tensor):
    if device is None:
        device = x.device
    return x.device is not None
""",
    "a string for some callers": """
def is_fast(device):
    return device == "cuda"
print(is_fast("cuda"), is_fast("cpu"))
""",
    "a string for some callers, a device for others": """
def is_fast(device):
    return device == "cuda"
print(is_fast("cuda"), is_fast(torch.device("cuda")))
""",
    "a default that is a string": """
def pick(device="auto"):
    if device == "auto":
        device = "cuda"
    return torch.device(device)
print(pick(torch.device("cpu")))
""",
    "a default beside which callers may pass a device": """
def pick(path, device="cpu"):
    if device == torch.device("hpu"):
        device = "hpu"
    return torch.zeros(3, device=device)

class Loader:
    @classmethod
    def load(cls, **kwargs):
        device = kwargs.get("device", "cuda" if torch.cuda.is_available() else "cpu")
        on_host = device == torch.device("cpu") or device == "cpu"
        return torch.zeros(3, device=kwargs.pop("device", "cpu")), on_host

print(pick("weights.pt"), Loader.load())
""",
    "a word that names no device": """
def apply_to(x, device):
    return x.pin_memory() if device == "pinned" else x.to(device)

print(apply_to(torch.ones(3), torch.device("cpu")))
""",
    "what the context of an operation holds": """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.device = x.device.type
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        if ctx.device == "cuda":
            grad = grad.contiguous()
        return grad * weight, grad * x
""",
    "an annotation that allows a string": """
class Buffer:
    def __init__(self, device: torch.device | str):
        if device == "auto":
            device = "cuda"
        self.device = torch.device(device)
Buffer(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
""",
    "one string or another for some callers": """
def is_fast(device):
    return device == "cuda"
print(is_fast("cuda" if torch.cuda.is_available() else "cpu"), is_fast(torch.device("cuda")))
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV205")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV205")


@pytest.mark.parametrize(
    ("comparison", "message", "advice"),
    [
        (
            'x.device == "cuda"',
            '`x.device == "cuda"` is always False: a torch.device equals no string',
            'compare the type: `x.device.type == "cuda"`',
        ),
        (
            'x.device != "cuda:1"',
            '`x.device != "cuda:1"` is always True: a torch.device equals no string',
            'compare with a device: `x.device != torch.device("cuda:1")`',
        ),
        (
            'x.device == torch.device("cuda")',
            '`x.device == torch.device("cuda")` is always False: a tensor\'s device has an index (cuda:0),'
            " torch.device('cuda') has none",
            'compare the type: `x.device.type == "cuda"`',
        ),
    ],
)
def test_the_finding_says_why(comparison: str, message: str, advice: str) -> None:
    (found,) = check(f"x = torch.zeros(3)\nprint({comparison})  # DEV205\n", "DEV205")
    assert (found.message, found.help) == (message, advice)


@pytest.mark.parametrize(
    ("comparison", "advice"),
    [
        ('name == torch.device("mps")', 'compare the type: `torch.device(name).type == "mps"`'),
        ('torch.device("mps") != name', 'compare the type: `torch.device(name).type != "mps"`'),
        ("x.device == name", "compare the types: `x.device.type == torch.device(name).type`"),
        ("x.device == place", "compare with a device: `x.device == torch.device(place)`"),
        ('torch.device("cuda:1") == place', 'compare with a device: `torch.device("cuda:1") == torch.device(place)`'),
    ],
)
def test_what_to_write_for_a_variable(comparison: str, advice: str) -> None:
    program = f'x = torch.zeros(3)\nname, place = "cuda", "cuda:1"\nprint({comparison})  # DEV205\n'
    (found,) = check(program, "DEV205")
    assert found.help == advice
