"""Compare training on the emulated device with training on the plain CPU: losses, gradients and weights must be equal.

    python benchmarks/runtime_models.py [--only WORD]

The table covers layers of each kind with each optimizer and in mixed precision. If the transformers library is
installed, it also covers small models of the library, built from their configurations with random weights. There is one
row for each training; the exit status is 1 if a run differs or fails. In autocast, CUDA casts operators that the host
does not cast: the plain run has those casts written out.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from devlint.runtime import emulate

Batch = dict[str, torch.Tensor]
Optimizers = Callable[[Any], torch.optim.Optimizer]
STEPS = 3


class Recurrent(nn.Module):
    """A recurrent layer with a linear head."""

    def __init__(self, kind: type[nn.Module]) -> None:
        super().__init__()
        self.layer = kind(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return scores computed from the last hidden state."""
        scores: torch.Tensor = self.head(self.layer(x)[0][:, -1])
        return scores


class Attention(nn.Module):
    """A transformer encoder with a linear head."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(6, 2, 12, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return scores computed from the mean over the sequence."""
        scores: torch.Tensor = self.head(self.encoder(x).mean(1))
        return scores


class CastLayer(nn.Module):
    """A layer that casts its weights and inputs to one dtype, as CUDA's autocast does and the host's does not."""

    def __init__(self, layer: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.layer = layer
        self.dtype = dtype

    def forward(self, x: torch.Tensor) -> Any:
        """Return the layer's result in the dtype, with autocast disabled."""
        with torch.autocast("cpu", enabled=False):
            weights = {name: weight.to(self.dtype) for name, weight in self.layer.named_parameters()}
            return torch.func.functional_call(self.layer, weights, x.to(self.dtype))


def write_out_casts(model: nn.Module, half: torch.dtype) -> None:
    """Wrap the layers of a model so that they run in the dtypes of CUDA's autocast."""
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if isinstance(layer, nn.RNNBase | nn.LayerNorm):
                setattr(parent, name, CastLayer(layer, half if isinstance(layer, nn.RNNBase) else torch.float32))


class Classifier(nn.Module):
    """A network and its loss, called with `labels` as the models of transformers are."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the loss."""
        return nn.functional.cross_entropy(self.network(x).float(), labels)


@dataclass(frozen=True)
class Model:
    """A model of the table: how to build it, and how to make a batch for it."""

    name: str
    build: Callable[[], nn.Module]
    batch: Callable[[], Batch]
    halves: tuple[torch.dtype, ...] = ()


@dataclass(frozen=True)
class Training:
    """A row of the table: a model with an optimizer and, for mixed precision, a dtype."""

    model: Model
    optimizer: str = "sgd"
    half: torch.dtype | None = None

    @property
    def name(self) -> str:
        """The name of the row."""
        how = f", autocast {str(self.half).removeprefix('torch.')}" if self.half else ""
        return f"{self.model.name}, {self.optimizer}{how}"


OPTIMIZERS: dict[str, Optimizers] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "adam fused": lambda p: torch.optim.Adam(p, lr=0.01, fused=True),
    "adam foreach": lambda p: torch.optim.Adam(p, lr=0.01, foreach=True),
    "adam for-loop": lambda p: torch.optim.Adam(p, lr=0.01, foreach=False),
}


def _rows(*shape: int) -> Callable[[], Batch]:
    """Return a function that makes a batch of random rows with labels."""
    return lambda: {"x": torch.randn(shape), "labels": torch.randint(0, 3, (shape[0],))}


def _perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Dropout(0.2), nn.Linear(8, 3))


def _convolutions() -> nn.Module:
    first = (nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*first, nn.Flatten(), nn.Linear(16, 3))


_HALVES = (torch.bfloat16, torch.float16)
LAYERS = (
    Model("nn.Linear", lambda: Classifier(_perceptron()), _rows(4, 6), _HALVES),
    Model("nn.Conv2d", lambda: Classifier(_convolutions()), _rows(4, 2, 6, 6), _HALVES),
    Model("nn.LSTM", lambda: Classifier(Recurrent(nn.LSTM)), _rows(4, 5, 6), _HALVES),
    Model("nn.GRU", lambda: Classifier(Recurrent(nn.GRU)), _rows(4, 5, 6), _HALVES),
    Model("nn.Transformer", lambda: Classifier(Attention()), _rows(4, 5, 6), _HALVES),
)


def _text() -> Batch:
    """Return a batch of token ids for sequence classification."""
    return {"input_ids": torch.randint(2, 50, (2, 7)), "labels": torch.tensor([0, 1])}


def _next_token() -> Batch:
    """Return a batch of token ids for next-token prediction."""
    ids = torch.randint(2, 50, (2, 7))
    return {"input_ids": ids, "labels": ids}


def _images(side: int) -> Callable[[], Batch]:
    """Return a function that makes a batch of square images with labels."""
    return lambda: {"pixel_values": torch.randn(2, 3, side, side), "labels": torch.tensor([0, 1])}


def transformers_models() -> tuple[Model, ...]:
    """Return tiny models of the transformers library; none if the library is not installed."""
    if importlib.util.find_spec("transformers") is None:
        return ()
    import transformers as hf

    text = {"vocab_size": 50, "bos_token_id": 0, "eos_token_id": 1}
    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    bert = hf.BertConfig(vocab_size=50, **small)
    gpt2 = hf.GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=16, **text)
    vit = hf.ViTConfig(image_size=8, patch_size=4, **small)
    resnet = hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1])
    return (
        Model("transformers BERT", lambda: hf.BertForSequenceClassification(bert), _text),
        Model("transformers GPT-2", lambda: hf.GPT2LMHeadModel(gpt2), _next_token),
        Model("transformers ViT", lambda: hf.ViTForImageClassification(vit), _images(8)),
        Model("transformers ResNet", lambda: hf.ResNetForImageClassification(resnet), _images(16)),
    )


def trainings() -> Iterator[Training]:
    """Yield every row of the table."""
    for model in LAYERS:
        yield from (Training(model, optimizer) for optimizer in OPTIMIZERS)
        yield from (Training(model, half=half) for half in model.halves)
    for model in transformers_models():
        yield from (Training(model, optimizer) for optimizer in ("sgd", "adamw"))


def train(training: Training, device: str) -> list[torch.Tensor]:
    """Train for a few steps; return the losses and the final gradients, weights and buffers, on the host."""
    torch.manual_seed(0)
    model = training.model.build().to(device)
    if training.half is not None and device == "cpu":
        write_out_casts(model, training.half)
    optimizer = OPTIMIZERS[training.optimizer](model.parameters())
    scaler = torch.amp.GradScaler(device, enabled=training.half is torch.float16)
    losses = []
    for _ in range(STEPS):
        batch = {name: tensor.to(device) for name, tensor in training.model.batch().items()}
        optimizer.zero_grad()
        with _precision(training.half, device):
            out = model(**batch)
            loss = out if isinstance(out, torch.Tensor) else out.loss
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach().cpu())
    gradients = [p.grad.cpu() for p in model.parameters() if p.grad is not None]
    return [*losses, *gradients, *(value.cpu() for value in model.state_dict().values())]


def _precision(half: torch.dtype | None, device: str) -> AbstractContextManager[Any]:
    """Return the autocast context of a dtype; a context without effect for None."""
    return nullcontext() if half is None else torch.autocast(device, dtype=half)


def difference(training: Training) -> float:
    """Return the largest difference between a plain and an emulated run; 0 means equal bit for bit."""
    plain = train(training, "cpu")
    with emulate():
        emulated = train(training, "cuda")
    pairs = list(zip(plain, emulated, strict=True))
    if all(torch.equal(left, right) for left, right in pairs):
        return 0.0
    return max(float((left.double() - right.double()).abs().max()) for left, right in pairs)


def main() -> int:
    """Run the trainings and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose name holds WORD")
    only = parser.parse_args().only
    failed = count = 0
    for training in trainings():
        if only not in training.name:
            continue
        count += 1
        try:
            off = difference(training)
        except Exception as error:
            result = f"FAILED {type(error).__name__}: {error}"
            failed += 1
        else:
            failed += off != 0
            result = f"DIFFERS by {off:.2g}" if off else "equal"
        print(f"{training.name:40} {result}", flush=True)
    print(f"\n{count - failed} of {count} trainings equal to the plain CPU's, bit for bit (torch {torch.__version__})")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
