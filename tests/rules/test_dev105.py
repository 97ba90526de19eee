"""Factories on the default device in code meant for any device."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "behind an argument that is compared with a number": """
class Drop(nn.Module):
    def forward(self, embeddings, keep_rate):
        if keep_rate == 1.0:
            return embeddings
        kept = (torch.rand(10, 1) + keep_rate).floor()  # DEV105
        return embeddings * kept
""",
    "beside an argument that is compared with another one": """
class Drop(nn.Module):
    def forward(self, x, other):
        if x.shape == other.shape:
            return x
        return torch.rand(10, 1) + other  # DEV105
""",
    "a switch that nobody sets": """
# file: switches.py
CUDA_ENABLED = False

def long_tensor(data):
    if CUDA_ENABLED:
        return torch.cuda.LongTensor(data)
    return torch.LongTensor(data)  # DEV105
# file: net.py
import switches

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 3)

    def forward(self, x):
        return self.table(switches.long_tensor([1])) + x.float()
# file: main.py
import switches
from net import Net

def prepare(use_cuda):
    switches.PINNED = use_cuda and torch.cuda.is_available()
    net = Net()
    return net.cuda() if switches.PINNED else net
""",
    "beside an entry of a tokenizer's result that is moved": """
from transformers import AutoModelForCausalLM, AutoTokenizer

def found(text, model, tokenizer):
    encoded = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    ids = encoded["input_ids"].to("cuda")
    model(ids)
    offsets = encoded["offset_mapping"].to("cuda")
    return torch.cat([torch.ones(1, 2), offsets])  # DEV105

model, tokenizer = AutoModelForCausalLM.from_pretrained("m").to("cuda:0"), AutoTokenizer.from_pretrained("m")
found("a", model, tokenizer)
""",
    "what an operation returns is cast, and not moved": """
def center(x: torch.Tensor):
    size = x.shape[0]
    mean = torch.ones(size, size, device=x.device) / size - torch.eye(size)  # DEV105
    mean = mean.type(x.dtype)
    ramp = (x + torch.arange(size)).to(dtype=torch.float32)  # DEV105
    return x @ mean @ ramp.to(torch.float32)
""",
    "a helper of tests that some run on an accelerator": """
# file: test_scores.py
def keep(mask: torch.Tensor, x: torch.Tensor):
    return torch.where(mask.to(x.device), x, torch.arange(4.0))  # DEV105

def test_keep():
    assert keep(torch.ones(4) > 0, torch.zeros(4)).sum() == 0

def test_keep_there():
    assert keep(torch.ones(4) > 0, torch.zeros(4, device="cuda")).sum() == 0
# file: other.py
""",
    "a helper that may be called from elsewhere": """
# file: scores.py
def keep(mask: torch.Tensor, x: torch.Tensor):
    return torch.where(mask.to(x.device), x, torch.arange(4.0))  # DEV105

def check():
    assert keep(torch.ones(4) > 0, torch.zeros(4)).sum() == 0
# file: other.py
""",
    "a function of a file that follows devices": """
def other(x: torch.Tensor):
    return x + torch.zeros(3, device=x.device)

def identity_less(x: torch.Tensor, n: int):
    return x.reshape(-1, n, n) - torch.eye(n).unsqueeze(0)  # DEV105
""",
    "private methods that no followed call reaches": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return unknown(self)(x)

    def _first(self, x: torch.Tensor, n):
        return self._mask(x, n)

    def _mask(self, x: torch.Tensor, n):
        return self._first(x, n - 1) if n else x + torch.zeros(3)  # DEV105
""",
    "the result is moved afterwards, in a module": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        noisy = x + torch.randn(8)  # DEV105
        return noisy.to(x.device)
""",
    "the required argument is given by its name": """
def noisy(x, *, scale, mode="a"):
    return x + torch.randn(8) * scale  # DEV105

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return noisy(x, scale=2)
""",
    "forward": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        return x + torch.randn(8)  # DEV105
""",
    "what is moved to another tensor's device is where that one's factory left it": """
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(3, 3)

    def decode(self, state):
        device = state.device
        ids = torch.LongTensor([1]).to(device)
        table = torch.zeros(4, 3).to(device)
        table[ids] = self.emb(ids)
        return table + state

    def sample(self):
        state = torch.randn(4, 3)  # DEV105
        return self.decode(state)
""",
    "each factory that asks for no device": """
class Net(nn.Module):
    def forward(self, x):
        rows = torch.arange(x.size(0))  # DEV105
        columns = torch.arange(x.size(1)).to(torch.float32)  # DEV105
        return x * rows[:, None], x * columns
""",
    "a parameter": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8, 8))

    def forward(self, n):
        noise = torch.randn(n, 8)  # DEV105
        return noise @ self.weight
""",
    "a submodule": """
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def sample(self, n):
        z = torch.randn(n, 8)  # DEV105
        return self.fc(z)
""",
    "positions for an embedding": """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(100, 8)
        self.positions = nn.Embedding(512, 8)

    def forward(self, ids):
        steps = torch.arange(ids.size(1)).unsqueeze(0)  # DEV105
        return self.tokens(ids) + self.positions(steps)
""",
    "hidden state": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 16, batch_first=True)

    def init_hidden(self, batch):
        return torch.zeros(1, batch, 16)  # DEV105

    def forward(self, x: torch.Tensor):
        h = self.init_hidden(x.size(0))
        return self.rnn(x, h)
""",
    "causal mask": """
class Attention(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor):
        scores = q @ k.transpose(-2, -1)
        mask = torch.triu(torch.ones(q.size(-2), k.size(-2)), diagonal=1).bool()  # DEV105
        return scores.masked_fill(mask, float("-inf")).softmax(-1)
""",
    "collected in a loop": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        total = torch.zeros(x.size(0), 8)  # DEV105
        for step in range(4):
            total = total + x[:, step]
        return total
""",
    "a function that names a device elsewhere": """
def smooth(x: torch.Tensor, n: int):
    kernel = torch.ones(n, device=x.device)
    eye = torch.eye(n)  # DEV105
    return (x * kernel) @ eye
""",
    "called with accelerator tensors": """
def one_hot(labels, classes):
    return torch.eye(classes)[labels]

def penalty(x):
    return x * torch.ones(8)  # DEV105

print(penalty(torch.rand(8).cuda()))
""",
    "a loss": """
class Dice(nn.Module):
    def forward(self, logits, target):
        weights = torch.tensor([0.2, 0.8])  # DEV105
        return F.cross_entropy(logits.float(), target.long(), weight=weights)
""",
    "concatenated": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        pad = torch.zeros(x.size(0), 1)  # DEV105
        return torch.cat([x, pad], dim=1)
""",
    "chosen by training": """
class Dropout(nn.Module):
    def forward(self, x: torch.Tensor):
        if not self.training:
            return x
        mask = torch.bernoulli(torch.full((8,), 0.5))  # DEV105
        return x * mask
""",
    "a helper of a forward": """
def ramp(n):
    return torch.linspace(0, 1, n)  # DEV105

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * ramp(8)
""",
}

GOOD = {
    "beside an argument that is compared with a number": """
class Drop(nn.Module):
    def forward(self, adjacency, keep_rate):
        if keep_rate == 1.0:
            return adjacency
        kept = (torch.rand(10) + keep_rate).floor().bool()
        return adjacency[kept]

class Noise(nn.Module):
    def forward(self, x, scale):
        if self.training and not scale <= 0:
            return x, torch.rand(10) * scale
        return x
""",
    "a switch that another file sets where there is CUDA": """
# file: switches.py
CUDA_ENABLED = False

def long_tensor(data):
    if CUDA_ENABLED:
        return torch.cuda.LongTensor(data)
    return torch.LongTensor(data)
# file: net.py
import switches

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 3)

    def forward(self, x):
        return self.table(switches.long_tensor([1])) + x.float()
# file: main.py
import switches
from net import Net

def prepare(use_cuda):
    switches.CUDA_ENABLED = use_cuda and torch.cuda.is_available()
    net = Net()
    return net.cuda() if switches.CUDA_ENABLED else net
""",
    "behind a call of a tensor, which raises": """
from transformers import AutoModelForCausalLM, AutoTokenizer

def found(text, model, tokenizer):
    encoded = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    ids = encoded["input_ids"].to("cuda")
    model(ids)
    return torch.cat([torch.tensor([True]), encoded["offset_mapping"][0] == 0])

def score(text):
    model, tokenizer = AutoModelForCausalLM.from_pretrained("m").to("cuda:0"), AutoTokenizer.from_pretrained("m")
    encoded = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    return found(encoded["input_ids"].to("cuda:0"), encoded["offset_mapping"][0], model)

def beside(text):
    model, tokenizer = AutoModelForCausalLM.from_pretrained("m").to("cuda:0"), AutoTokenizer.from_pretrained("m")
    return found(text, model, tokenizer)

score("a")
beside("a")
""",
    "what an operation returns is moved, also by an old type or another tensor": """
def center(x: torch.Tensor, y: torch.Tensor, device):
    size = x.shape[0]
    first = (x + torch.eye(size)).to(device)
    second = (x + torch.eye(size)).type(torch.FloatTensor)
    third = (x + torch.eye(size)).type_as(y)
    return first, second, third, (x + torch.eye(size)).to(torch.float32, copy=True).cuda()
""",
    "a helper of tests that all pass host tensors": """
# file: test_scores.py
def keep(mask: torch.Tensor, x: torch.Tensor):
    return torch.where(mask.to(x.device), x, torch.arange(4.0))

def test_keep():
    assert keep(torch.ones(4) > 0, torch.zeros(4)).sum() == 0
# file: other.py
""",
    "a function of a file that only mentions devices": """
def identity_less(x: torch.Tensor, n: int):
    # Callers pass what has the right x.device.
    return x.reshape(-1, n, n) - torch.eye(n).unsqueeze(0)

def main(args):
    print(args.device, torch.device("cpu"))
    return identity_less(torch.ones(4), 2)
""",
    "a function without annotations in a file that follows devices": """
def other(x: torch.Tensor):
    return x + torch.zeros(3, device=x.device)

def identity_less(x, n):
    return x.reshape(-1, n, n) - torch.eye(n).unsqueeze(0)
""",
    "a private method that is only called with host tensors": """
def other(x: torch.Tensor):
    return x + torch.zeros(3, device=x.device)

class Data:
    def read(self, n):
        return self._shift(torch.ones(n), 3)

    def _shift(self, x: torch.Tensor, n: int):
        return x + torch.zeros(n)
""",
    "a call with too many arguments raises before": """
def noisy(x):
    return x + torch.randn(8)

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return noisy(x, 2)
""",
    "what follows an argument that NumPy has read on the host": """
def overlap(boxes_a, boxes_b):
    a = (boxes_a[:, 2] - boxes_a[:, 5] / 2).view(-1, 1)
    b = (boxes_b[:, 2] - boxes_b[:, 5] / 2).view(1, -1)
    return torch.max(a, b)

class Sampler(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.options = options

    def forward(self, batch_dict):
        rois = batch_dict["rois"]
        gt_boxes = batch_dict["gt_boxes"]
        for index in range(batch_dict["batch_size"]):
            cur_roi, cur_gt = rois[index], gt_boxes[index]
            self.augment(cur_roi, cur_gt)

    def augment(self, rois, truth, times=10):
        for k in range(rois.shape[0]):
            iou = cnt = 0
            roi, gt = rois[k], truth[k].view(1, truth.shape[-1])
            aug = roi
            while iou < 0.5 and cnt < times:
                if np.random.rand() <= self.options.RATIO:
                    aug = roi
                else:
                    aug = self.shift(roi)
                aug = aug.view((1, aug.shape[-1]))
                iou = overlap(aug[:, :7], gt[:, :7])[0][0]
                cnt += 1
            rois[k] = aug.view(-1)

    def shift(self, box):
        if self.options.METHOD == "single":
            return torch.cat([box[0:3] + torch.rand(3, device=box.device), box[3:]], dim=0)
        elif self.options.METHOD == "normal":
            turn = ((torch.rand() - 0.5) / 0.5) * np.pi / 12
            moved = np.array([box[0] + np.random.normal(), box[1] + turn], dtype=np.float32)
            moved = torch.from_numpy(moved).type_as(box)
            return moved
        else:
            raise NotImplementedError
""",
    "what it is put together with is moved afterwards": """
class Solver:
    def __init__(self, loader, device):
        self.loader, self.device = loader, torch.device(device)

    def train(self):
        for images, labels in self.loader:
            padding = torch.zeros(images.size(0), 5)
            targets = torch.cat([labels.clone(), padding], dim=1)
            targets = targets.to(self.device)
            flat = torch.cat([labels.clone(), padding]).view(-1).to(self.device)
""",
    "a call without a required argument raises before": """
def noisy(x, scale, mode):
    return x + torch.randn(8) * scale

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return noisy(x, 2)
""",
    "device given": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        noise = torch.randn(8, device=x.device)
        z = torch.randn(2, 8).to(x.device)
        steps = torch.arange(8).to(x)
        return self.fc(x + noise + z * steps + torch.zeros(8, device=self.fc.weight.device))
""",
    "like another": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return x + torch.zeros_like(x) + x.new_ones(8) + torch.rand_like(x) + x.new_tensor([1.0, 2.0])
""",
    "only numbers": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        scale = torch.rand(1).item()
        steps = torch.linspace(0, 1, 8).tolist()
        for step in torch.arange(8):
            x = x * int(step)
        return x * scale * steps[0] + torch.tensor(2.0)
""",
    "an index": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        order = torch.randperm(8)
        return x[:, order]
""",
    "block with a device": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        with torch.device(x.device):
            noise = torch.randn(8)
        return x + noise
""",
    "dataset": """
class Data(torch.utils.data.Dataset):
    def __init__(self, path):
        self.items = torch.load(path)

    def __getitem__(self, index):
        return self.items[index] + torch.randn(8)
""",
    "collate": """
def collate(batch):
    xs, ys = zip(*batch)
    x = torch.stack(xs)
    padded = torch.zeros(len(xs), 10)
    padded[:, : x.size(1)] = x
    return padded * x, torch.tensor(ys)
""",
    "transform": """
class AddNoise:
    def __init__(self, std):
        self.std = std

    def __call__(self, tensor):
        return tensor + torch.randn(tensor.size(0), 8) * self.std
""",
    "metric on host values": """
def accuracy(output, target):
    output = output.cpu()
    return (output.argmax(1) == target.cpu()).float().mean() + torch.zeros(8)
""",
    "no evidence": """
def add_noise(x):
    return x + torch.randn(8)
""",
    "constructor": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        with torch.no_grad():
            self.fc.weight.mul_(torch.ones(8, 8))
        self.weight = nn.Parameter(torch.ones(8) * torch.randn(8))
""",
    "initialise": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.reset()

    def reset(self):
        self.fc.weight.data = self.fc.weight.data * torch.ones(8, 8)
""",
    "copied": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("queue", torch.zeros(8, 8))

    def forward(self, x: torch.Tensor):
        self.queue.copy_(torch.ones(8, 8))
        x[:] = torch.tensor(0.0)
        return x
""",
    "where numbers come from": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return torch.where(x > 0, x, torch.tensor(0.0)) + torch.tensor(1e-6)
""",
    "moved before use": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        mask = torch.ones(8)
        mask = mask.to(x.device)
        other = torch.ones(8).type_as(x)
        if x.is_cuda:
            third = torch.ones(8).cuda()
        else:
            third = torch.ones(8)
        return x * mask * other * third
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_one_factory_is_one_finding() -> None:
    (finding,) = check(
        """
class Net(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        mask = torch.ones(8)  # DEV105
        for _ in range(3):
            x = x * mask
        return x + y * mask - mask * x
""",
        "DEV1",
    )
    assert finding.message == (
        "`torch.ones` is given no device and makes its tensor on the host:"
        " it cannot be combined with `x` on the caller's device in `*`"
    )
    assert finding.help == "pass `device=x.device` to `torch.ones`"
    assert finding.confidence.value == "likely"


def test_the_help_names_a_tensor_that_is_at_hand() -> None:
    (finding,) = check(
        """
def different(labels: torch.Tensor):
    return ~torch.eye(labels.size(0)).bool()  # DEV105

class Miner(nn.Module):
    def forward(self, labels: torch.Tensor):
        return (labels[:, None] == labels) & different(labels)
""",
        "DEV1",
    )
    assert finding.help == "pass `device=labels.device` to `torch.eye`"


def test_what_takes_no_device_is_to_be_moved() -> None:
    (finding,) = check(
        """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        start = torch.LongTensor([1, 2, 3])  # DEV105
        return x * start
""",
        "DEV1",
    )
    assert finding.message.startswith("`torch.LongTensor` makes its tensor on the host: it cannot be combined with `x`")
    assert finding.help == "move it: `.to(x.device)`"
