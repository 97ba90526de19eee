"""Modules called with inputs on another device."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import check_paths

from .programs import check

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)
"""

BAD = {
    "an option that may be left out": """
import argparse
from torch.utils.data import DataLoader
from somewhere import build

def main(dataset):
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int, default=None)
    args = parser.parse_args()
    model = build().cuda(args.gpu)
    model.eval()
    for images in DataLoader(dataset):
        if args.gpu is not None:
            images = images.cuda(args.gpu, non_blocking=True)
        model(images)  # DEV102
""",
    "graphs that a transform leaves on the host": """
import torch_geometric.transforms as T
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader

model = nn.Linear(3, 2).cuda()
for graphs in DataLoader(TUDataset("data", "MUTAG", transform=T.NormalizeFeatures()), batch_size=4):
    model(graphs.x)  # DEV102
both = T.Compose([T.NormalizeFeatures(), T.AddSelfLoops()])
for graphs in DataLoader(TUDataset("data", "MUTAG", transform=both), batch_size=4):
    model(graphs.x)  # DEV102
""",
    "layers behind a part that refuses its input": """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        return self.norm(self.layer(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.last = nn.Linear(3, 3)

    def forward(self, x):
        size = x.abs()
        return self.last(self.encoder(x)) * size  # DEV102

    def act(self, x):
        return self.forward(x)

net = Net().to("cuda:0")
for batch in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(3, 3))):
    net.act(batch[0]) + torch.hamming_window(3)
""",
    "a layer given to a module of unknown class after that is moved": """
def train(net: nn.Module, x, device):
    net.to(device)
    net.link = nn.ModuleList([nn.Linear(3, 3)])
    x = x.to(device)
    return net.link[0](x)  # DEV102
""",
    "parts of unknown name that are only given notes": """
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(3, 3)

    def forward(self, x):
        return self.gate(x)

class Lstm(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.cells = nn.ModuleList([Cell() for _ in range(layers)])
        self.back = nn.ModuleList([Cell() for _ in range(layers)])

    def forward(self, x):
        for cell in self.cells:
            x = cell(x)
        return x

    @staticmethod
    def of(lstm, suffixes):
        module = Lstm(lstm.num_layers)
        for i in range(lstm.num_layers):
            for kind in ("weight", "bias"):
                for suffix in suffixes:
                    cell = module.cells[i] if suffix == "" else module.back[i]
                    gate = getattr(cell, "gate%s" % suffix)
                    setattr(gate, "note", kind)
        return module

Lstm.of(nn.LSTM(3, 3).cuda(), input().split())(torch.ones(3, device="cuda"))  # DEV102
""",
    "what is computed from the output of a module that refuses its input": """
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(3, 3)
        self.places = nn.Embedding(3, 3)

    def forward(self, captions):
        x = self.embed(captions)  # DEV102
        x += self.places.weight
        return x

    def sample(self):
        start = torch.zeros(3, dtype=torch.long).to("cuda" if torch.cuda.is_available() else "cpu")
        return self.forward(start)

Decoder().sample()
""",
    "a second misplaced tensor beside the output of a module that refuses its input": """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

    def loss(self):
        x = torch.ones(3).to("cuda")
        y = torch.ones(3).cpu()
        return (self.layer(x) - y).sum()  # DEV102 DEV101

Encoder().loss()
""",
    "indices alone, and a mask, that an unknown model is given": """
from somewhere import build

def run(items: list):
    model = build().to("cuda")
    model.eval()
    print(model(torch.tensor([1, 2, 3])))  # DEV102
    return model(torch.stack(items).to("cuda"), torch.ones(3))  # DEV102
""",
    "a model that is never moved is one bug, wherever it is called": NET
    + """
def train():
    model, test = Net(), torch.rand(4, 3).cuda()
    for epoch in range(3):
        model(torch.rand(8, 3).cuda()).sum().backward()  # DEV102
        print(model(test))

        def score(x):
            return model(x)
        print(score(test))
""",
    "two models that are never moved are two": NET
    + """
def train():
    model, teacher = Net(), Net()
    x = torch.rand(8, 3).cuda()
    print(model(x))  # DEV102
    print(teacher(x))  # DEV102

def evaluate():
    model = Net()
    print(model(torch.rand(8, 3).cuda()))  # DEV102
""",
    "set up only where an attribute exists that nobody sets": """
class Trainer:
    def __init__(self, model, device):
        self.model, self.device = model, torch.device(device)

    def fit(self, x):
        if hasattr(self, "ready"):
            self.model.to(self.device)
        return self.model(x.to(self.device))  # DEV102

Trainer(nn.Linear(3, 3), "cuda").fit(torch.ones(3, 3))
""",
    "the test of a device, and a module that stays on the host": """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.degrees = nn.Embedding(9, 3)

    def forward(self, seed, degrees):
        if seed.device != torch.device("cpu"):
            degrees = degrees.cuda()
        return self.degrees(degrees)

Encoder()(torch.zeros(3, device="cuda"), torch.zeros(3, dtype=torch.long, device="cuda"))  # DEV102
""",
    "host input": """
model = nn.Linear(8, 2).cuda()
out = model(torch.rand(4, 8))  # DEV102
""",
    "an input that meets a buffer first": """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("gain", torch.linspace(0.5, 1.5, 3))
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x * self.gain)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scaled = Scaled()

    def forward(self, x):
        return self.scaled(x)

Net().cuda()(torch.rand(4, 3))  # DEV102
""",
    "a buffer, where the module is on both devices": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("gain", torch.linspace(0.5, 1.5, 3).cuda())
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x) * self.gain.reshape(3)[:2] + (x * self.gain).sum()  # DEV101

Net()(torch.rand(4, 3))
""",
    "conditional device": """
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
model.to(device)
x = torch.rand(4, 8)
out = model(x)  # DEV102
""",
    "host module": """
model = nn.Linear(8, 2)
out = model(torch.rand(4, 8).cuda())  # DEV102
""",
    "own class": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.conv(x).mean((2, 3)))

net = Net().cuda()
net(torch.rand(1, 3, 8, 8))  # DEV102
""",
    "a loader of samples that are read from files, or that nothing has moved": """
class Images(torch.utils.data.Dataset):
    def __init__(self, files, read):
        self.files, self.read = files, read

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.read(self.files[i])

class Stored(Images):
    def __init__(self, files):
        self.files = [torch.rand(3) for _ in files]

    def __getitem__(self, i):
        return self.files[i]

def run(files, read):
    net = nn.Linear(3, 3).cuda()
    for batch in torch.utils.data.DataLoader(Images(files, read), batch_size=2):
        net(batch)  # DEV102
    for batch in torch.utils.data.DataLoader(Stored(files), batch_size=2):
        net(batch)  # DEV102
""",
    "loader": """
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 2).to(device)
loader = DataLoader(TensorDataset(torch.rand(64, 8), torch.rand(64, 2)), batch_size=16, pin_memory=True)
for x, y in loader:
    loss = F.mse_loss(model(x), y.to(device))  # DEV102
""",
    "back to the host": """
model = nn.Linear(8, 2).cuda()
for batch in torch.utils.data.DataLoader(torch.rand(64, 8)):
    batch = batch.to("cuda")
    out = model(batch.to("cpu"))  # DEV102
""",
    "loss with weights": """
criterion = nn.CrossEntropyLoss(weight=torch.ones(3))
logits = torch.rand(4, 3).cuda()
target = torch.zeros(4, dtype=torch.long).cuda()
loss = criterion(logits, target)  # DEV102
""",
    "embedding": """
table = nn.Embedding(10, 4).cuda()
rows = table(torch.tensor([1, 2]))  # DEV102
""",
    "trainer": """
class Trainer:
    def __init__(self, device):
        self.device = device
        self.model = nn.Linear(8, 2).to(self.device)

    def step(self, x):
        return self.model(x)  # DEV102

Trainer("cuda").step(torch.rand(4, 8))
""",
    "two accelerators": """
a = nn.Linear(8, 8).to("cuda:0")
b = nn.Linear(8, 8).to("cuda:1")
out = b(a(torch.rand(4, 8).to("cuda:0")))  # DEV102
""",
    "method of the module": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def encode(self, x):
        return self.fc(x)  # DEV102

net = Net().cuda()
net.encode(torch.rand(2, 8))
""",
}

GOOD = {
    "an option that is never None": """
import argparse
from torch.utils.data import DataLoader
from somewhere import build

def main(dataset):
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int, default=0)
    args = parser.parse_args()
    model = build().cuda(args.gpu)
    model.eval()
    for images in DataLoader(dataset):
        if args.gpu is not None:
            images = images.cuda(args.gpu, non_blocking=True)
        model(images)
""",
    "graphs that a transform moves": """
import torch_geometric.transforms as T
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader

model = nn.Linear(3, 2).cuda()
for graphs in DataLoader(TUDataset("data", "MUTAG", transform=T.ToDevice("cuda")), batch_size=4):
    model(graphs.x)
both = T.Compose([T.NormalizeFeatures(), T.ToDevice("cuda")])
for graphs in DataLoader(TUDataset("data", "MUTAG", transform=both), batch_size=4):
    model(graphs.x)
for graphs in DataLoader(TUDataset("data", "MUTAG", transform=lambda graph: graph.to("cuda")), batch_size=4):
    model(graphs.x)
""",
    "a layer given to a module of unknown class before that is moved": """
def train(net: nn.Module, x, device):
    net.link = nn.ModuleList([nn.Linear(3, 3)])
    setattr(net, "head", nn.Linear(3, 3))
    net.to(device)
    x = x.to(device)
    return net.link[0](x) + net.head(x)
""",
    "weights of unknown name that are replaced by copies of weights elsewhere": """
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(3, 3)

    def forward(self, x):
        return self.gate(x)

class Lstm(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.cells = nn.ModuleList([Cell() for _ in range(layers)])
        self.back = nn.ModuleList([Cell() for _ in range(layers)])

    def forward(self, x):
        for cell in self.cells:
            x = cell(x)
        return x

    @staticmethod
    def of(lstm, suffixes):
        module = Lstm(lstm.num_layers)
        for i in range(lstm.num_layers):
            for kind in ("weight", "bias"):
                for suffix in suffixes:
                    cell = module.cells[i] if suffix == "" else module.back[i]
                    gate = getattr(cell, "gate%s" % suffix)
                    setattr(gate, kind, nn.Parameter(getattr(lstm, "%s_ih_l%d" % (kind, i)).clone()))
        return module

Lstm.of(nn.LSTM(3, 3).cuda(), input().split())(torch.ones(3, device="cuda"))
""",
    "lengths beside another input of an unknown model": """
from somewhere import build

def run(items: list):
    model = build().to("cuda")
    model.eval()
    lengths = torch.tensor([item.shape[0] for item in items])
    return model(torch.stack(items).to("cuda"), lengths)
""",
    "set up when first used": """
class Trainer:
    def __init__(self, model, device):
        self.model, self.device = model, torch.device(device)

    def fit(self, x):
        if not getattr(self, "_ready", False):
            self.model.to(self.device)
            self._ready = True
        return self.model(x.to(self.device))

Trainer(nn.Linear(3, 3), "cuda").fit(torch.ones(3, 3))
""",
    "moved": """
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(8, 2).to(device)
x = torch.rand(4, 8)
x = x.to(device)
print(model(x), model(torch.rand(4, 8).to(next(model.parameters()).device)))
""",
    "moved back": """
model = nn.Linear(8, 2).cuda()
model.cpu()
model(torch.rand(4, 8))
""",
    "no parameters": """
layer = nn.Sequential(nn.ReLU(), nn.Flatten(), nn.MaxPool1d(2)).cuda()
print(layer(torch.rand(4, 8)))
loss = nn.MSELoss().cuda()
print(loss(torch.rand(3), torch.rand(3)))
""",
    "forward moves its input": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        x = x.to(self.fc.weight.device)
        return self.fc(x)

Net().cuda()(torch.rand(4, 8))
""",
    "the test of a device that the loop may have moved": """
from graphs import batch_graphs, load

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.degrees = nn.Embedding(9, 3)

    def forward(self, g):
        device = g.ndata["seed"].device
        degrees = g.in_degrees()
        if device != torch.device("cpu"):
            degrees = degrees.cuda(device)
        return self.degrees(degrees)

def evaluate(loader, model, device):
    for batch in loader:
        query, key = batch
        query.to(device)
        model(query)

loader = torch.utils.data.DataLoader(dataset=load(), collate_fn=batch_graphs())
evaluate(loader, Encoder(), torch.device("cpu"))
""",
    "lightning": """
import lightning as L

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def training_step(self, batch, index):
        x, y = batch
        return F.mse_loss(self.fc(x.to(self.device)), y.to(self.device))

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.rand(3, 8))

L.Trainer(accelerator="gpu").fit(Net(), torch.utils.data.DataLoader(torch.rand(3, 8)))
""",
    "accelerate": """
from accelerate import Accelerator

accelerator = Accelerator()
model = nn.Linear(8, 2)
loader = torch.utils.data.DataLoader(torch.rand(64, 8))
model, loader = accelerator.prepare(model, loader)
for x in loader:
    model(x)
""",
    "accelerate, moved first": """
from accelerate import Accelerator

accelerator = Accelerator()
model = nn.Linear(8, 2).to(accelerator.device)
loader = accelerator.prepare(torch.utils.data.DataLoader(torch.rand(64, 8)))
for x in loader:
    model(x)
""",
    "device_map": """
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained("gpt2", device_map="auto")
tokenizer = AutoTokenizer.from_pretrained("gpt2")
inputs = tokenizer("text", return_tensors="pt")
model(**inputs)
model.generate(inputs["input_ids"])
""",
    "data parallel scatters": """
model = nn.DataParallel(nn.Linear(8, 2)).cuda()
model(torch.rand(4, 8))
""",
    "frozen half on the host": """
encoder = nn.Linear(8, 8)
head = nn.Linear(8, 2).cuda()
head(encoder(torch.rand(4, 8)).cuda())
""",
    "a function of an unknown model that is told the device": """
from somewhere import build

def run(device: torch.device, size):
    model = build().to(device)
    model.eval()
    infer = getattr(model, "infer")
    return infer(torch.ones(size), device), model(torch.ones(size), device=device)
""",
    "unknown model": """
def evaluate(model, loader):
    for x in loader:
        model(x)

def run(model, x):
    return model.cuda()(x)
""",
    "host only": """
model = nn.Linear(8, 2)
for x in torch.utils.data.DataLoader(torch.rand(64, 8)):
    model(x)
""",
    "a loader of data that somebody else may have placed": """
class Rows(torch.utils.data.Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"x": self.x[i], "y": self.y[i]}

class Classifier:
    def __init__(self, x, y):
        self.model = nn.Linear(3, 3).cuda()
        self.rows = Rows(x, y)

    def run(self):
        for batch in torch.utils.data.DataLoader(self.rows, batch_size=3):
            self.model(batch["x"])
""",
    "a loader of samples that a method of the model has moved": """
class Samples(torch.utils.data.Dataset):
    def __init__(self, files, read):
        self.samples = [read(one) for one in files]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]

class Model:
    def __init__(self, device):
        self.device = device
        self.net = nn.Linear(3, 3).to(device)

    def read(self, file):
        return torch.load(file).to(self.device)

    def run(self, files):
        for batch in torch.utils.data.DataLoader(Samples(files, self.read), batch_size=2):
            self.net(batch)
""",
    "only where there is one": """
model = nn.Linear(8, 2)
x = torch.rand(4, 8)
if torch.cuda.is_available():
    model.cuda()
    x = x.cuda()
model(x)
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


def test_the_caller_is_to_blame_though_its_file_alone_is_checked(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.register_buffer('gain', torch.ones(3))\n\n"
        "    def forward(self, x):\n"
        "        return x * self.gain\n"
    )
    test = tmp_path / "test_net.py"
    test.write_text("import torch\nfrom net import Net\n\nmodel = Net().to('cuda')\nmodel(torch.rand(2, 3))\n")
    for paths in ([test], [tmp_path]):
        (found,) = check_paths(paths, select=["DEV1"], isolated=True).diagnostics
        assert (Path(found.region.filename).name, found.region.start.row, found.code) == ("test_net.py", 5, "DEV102")
        assert found.message == "`model` is on cuda but its input `torch.rand(2, 3)` is on cpu"


def test_the_input_is_named_as_the_caller_writes_it() -> None:
    (finding,) = check(
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(x.flatten(1))

net = Net().to("cuda")
images = torch.rand(4, 8)
net(images)  # DEV102
""",
        "DEV1",
    )
    assert finding.message == "`net` is on cuda but its input `images` is on cpu"
    assert finding.help == 'move the input before the call: `images.to("cuda")`'
    assert [note.region.start.row for note in finding.trace] == [15, 14]


def test_the_help_uses_names_that_the_caller_has() -> None:
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 3)

    def forward(self, x):
        return self.embed(x)

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        return self.net(x)

def main(rows{parameter}):
    tagger = Tagger().to({device})
    for row in rows:
        words = torch.tensor(row)
        tagger(words)  # DEV102

{call}
"""
    # Each step names what its own line names: the whole module was moved, and its layer with it.
    given = program.format(parameter=", device", device="device", call="main([[1, 2]], torch.device('cuda'))")
    (finding,) = check(given, "DEV1")
    assert finding.help == "move the input before the call: `words.to(device)`"
    assert [note.message for note in finding.trace][-1] == "`tagger` moved to cuda by `.to()`"
    (finding,) = check(program.format(parameter="", device="torch.device('cuda')", call="main([[1, 2]])"), "DEV1")
    assert finding.help == "move the input before the call: `words.to(next(tagger.parameters()).device)`"
