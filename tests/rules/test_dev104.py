"""Modules and parameters in plain containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "cells that are used under a condition": """
class Net(nn.Module):
    def __init__(self, layers=1, both=False):
        super().__init__()
        self.layers = layers
        self.both = both
        self.cells = []  # DEV104
        for layer in range(layers):
            if self.both:
                self.cells.append(nn.LSTMCell(3, 3))

    @staticmethod
    def _run(cell, x, start):
        h, c = cell(input=x[0], hx=start)
        return h

    def forward(self, x, start):
        for layer in range(self.layers):
            if self.both:
                x = Net._run(cell=self.cells[layer], x=x, start=start)
        return x
""",
    "many layers": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [  # DEV104
            nn.Linear(1, 2), nn.Linear(2, 3), nn.Linear(3, 4), nn.Linear(4, 5),
            nn.Linear(5, 6), nn.Linear(6, 7), nn.Linear(7, 8), nn.Linear(8, 9),
        ]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

net = Net().cuda()
net(torch.rand(2, 1).cuda())
""",
    "variable": """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        layers = []
        for _ in range(n):
            layers.append(nn.Linear(8, 8))
        self.layers = layers  # DEV104

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "helper": """
def make(n):
    return [nn.Linear(8, 8) for _ in range(n)]

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = make(n)  # DEV104

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "list of a generator": """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norms = list(nn.BatchNorm1d(8) for _ in range(n))  # DEV104

    def forward(self, x):
        for norm in self.norms:
            x = norm(x)
        return x
""",
    "list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]  # DEV104

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

net = Net().cuda()
net(torch.rand(2, 8).cuda())
""",
    "comprehension": """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = [nn.Linear(8, 8) for _ in range(n)]  # DEV104

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x
""",
    "dict": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)}  # DEV104

    def forward(self, x: torch.Tensor):
        return {name: head(x) for name, head in self.heads.items()}
""",
    "dict filled by key": """
class Net(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.heads = {}  # DEV104
        for name in names:
            self.heads[name] = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor, name):
        return self.heads[name](x)
""",
    "tuple": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = (nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))  # DEV104

    def forward(self, x: torch.Tensor):
        first, activation, last = self.parts
        return last(activation(first(x)))
""",
    "index": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.heads = [nn.Linear(8, 2)]  # DEV104

    def forward(self, x: torch.Tensor):
        return self.heads[0](self.fc(x))
""",
    "appended": """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = []  # DEV104
        for _ in range(n):
            self.layers.append(nn.Linear(8, 8))

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "parameters": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = [nn.Parameter(torch.ones(8)) for _ in range(3)]  # DEV104

    def forward(self, x: torch.Tensor):
        return x * self.scales[0]
""",
    "own modules": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [Block(), Block()]  # DEV104

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

Net().to("cuda")(torch.rand(2, 8, device="cuda"))
""",
    "parameters of another module in a ParameterList": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        return self.second(self.first(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList(Block().parameters())
        self.blocks = [Block(), Block()]  # DEV104

    def forward(self, x: torch.Tensor):
        return self.blocks[0](x)
""",
    "parameters of one module of two in a ParameterList": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        return self.second(self.first(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [Block(), Block()]  # DEV104
        self.weights = nn.ParameterList(self.blocks[0].parameters())

    def forward(self, x: torch.Tensor):
        return self.blocks[1](x)
""",
    "encoder of a layer on the host": """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2)
        self.encoders = [nn.TransformerEncoder(layer, 2) for _ in range(3)]  # DEV104

    def forward(self, x: torch.Tensor):
        return self.encoders[0](x)
""",
}

GOOD = {
    "cells whose weights are registered under computed names": """
class Net(nn.Module):
    def __init__(self, layers=1, both=False):
        super().__init__()
        self.layers = layers
        self.both = both
        self.cells = []
        self.names = []
        for layer in range(layers):
            if self.both:
                self.cells.append(nn.LSTMCell(3, 3))
        for layer in range(layers):
            if self.both:
                weights = (self.cells[layer].weight_ih, self.cells[layer].weight_hh)
                suffix = ""
                names = ["w{}{}"]
                names += ["v{}{}"]
                names = [one.format(layer, suffix) for one in names]
                for name, weight in zip(names, weights):
                    setattr(self, name, weight)
                self.names.append(names)

    @staticmethod
    def _run(cell, x, start):
        h, c = cell(input=x[0], hx=start)
        return h

    def forward(self, x, start):
        for layer in range(self.layers):
            if self.both:
                x = Net._run(cell=self.cells[layer], x=x, start=start)
        return x
""",
    "many layers that are moved": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [
            nn.Linear(1, 2), nn.Linear(2, 3), nn.Linear(3, 4), nn.Linear(4, 5),
            nn.Linear(5, 6), nn.Linear(6, 7), nn.Linear(7, 8), nn.Linear(8, 9),
        ]

    def forward(self, x):
        for layer in self.layers:
            layer.to(x.device)
            x = layer(x)
        return x

net = Net().cuda()
net(torch.rand(2, 1).cuda())
""",
    "variable that a ModuleList gets": """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        layers = []
        for _ in range(n):
            layers.append(nn.Linear(8, 8))
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "parameters extend a ParameterList": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        return self.second(self.first(x))

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.blocks = []
        weights = []
        for _ in range(n):
            block = Block()
            weights.extend(block.parameters())
            self.blocks.append(block)
        self.weights = nn.ParameterList(weights)

    def forward(self, x: torch.Tensor):
        for block in self.blocks:
            x = block(x)
        return x

Net(3).cuda()(torch.rand(2, 8, device="cuda"))
""",
    "parameters in a ParameterList before the container": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        return self.second(self.first(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        block = Block()
        self.weights = nn.ParameterList(list(block.parameters()))
        self.blocks = [block]

    def forward(self, x: torch.Tensor):
        return self.blocks[0](x)
""",
    "parameters registered by name": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        return self.second(self.first(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [Block()]
        for name, weight in self.blocks[0].named_parameters():
            self.register_parameter(name.replace(".", "_"), weight)

    def forward(self, x: torch.Tensor):
        return self.blocks[0](x)
""",
    "parameters of several modules extend a ParameterList": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8)), nn.Linear(8, 8)]
        self.weights = nn.ParameterList()
        for block in self.blocks:
            self.weights.extend(block.parameters())

    def forward(self, x: torch.Tensor):
        for block in self.blocks:
            x = block(x)
        return x
""",
    "encoder of an unknown layer": """
from somewhere import make_layer

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoders = [nn.TransformerEncoder(make_layer(), 2)]

    def forward(self, x: torch.Tensor):
        return self.encoders[0](x)
""",
    "copies of a layer made on the device": """
import copy

class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, device=device)
        self.layers = [copy.deepcopy(layer) for _ in range(3)]
        self.device = device

    def forward(self, x: torch.Tensor):
        x = x.to(self.device)
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "encoders made on the device": """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.layers = [nn.TransformerEncoderLayer(8, 2, device=device) for _ in range(3)]
        self.encoders = [nn.TransformerEncoder(self.layers[i], num_layers=2) for i in range(3)]
        self.decoders = [nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, device=device), 2)]
        self.device = device

    def forward(self, x: torch.Tensor):
        x = x.to(self.device)
        return self.decoders[0](x, self.encoders[0](x))

Net("cuda")(torch.rand(2, 4, 8))
""",
    "registered containers": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8)])
        self.heads = nn.ModuleDict({"a": nn.Linear(8, 2)})
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(8))])
        self.body = nn.Sequential(*[nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.heads["a"](self.body(x) * self.scales[0])

Net().cuda()(torch.rand(2, 8).cuda())
""",
    "wrapped later": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(8, 8)]
        layers.append(nn.Linear(8, 8))
        self.layers = layers
        self.registered = nn.ModuleList(layers)

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "rebound as ModuleList": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for _ in range(3):
            self.layers.append(nn.Linear(8, 8))
        self.layers = nn.ModuleList(self.layers)

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "add_module": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for i in range(3):
            layer = nn.Linear(8, 8)
            self.add_module(f"layer{i}", layer)
            self.layers.append(layer)

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "registered one by one": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)
        self.layers = [self.a, self.b]

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "setattr": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for i in range(3):
            layer = nn.Linear(8, 8)
            setattr(self, f"layer{i}", layer)
            self.layers.append(layer)

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "no weights": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.activations = [nn.ReLU(), nn.Tanh()]

    def forward(self, x: torch.Tensor):
        for activation in self.activations:
            x = activation(x)
        return x
""",
    "not a module": """
class Ensemble:
    def __init__(self, device):
        self.models = [nn.Linear(8, 2).to(device) for _ in range(3)]

    def predict(self, x, device):
        return [model(x.to(device)) for model in self.models]
""",
    "moved by itself": """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.frozen = [nn.Linear(8, 8).to(device)]

    def forward(self, x: torch.Tensor):
        self.frozen[0].to(x.device)
        return self.frozen[0](x)
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)
