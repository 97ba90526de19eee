"""Train small programs of the kinds that people write on the emulated device: they must compute what the CPU computes.

    python benchmarks/runtime_programs.py [--only WORD]

Each program is a function that is given the device, seeds everything, trains, and returns its losses and its final
tensors. It runs once on the plain CPU, and once on the emulated device while it is recorded. There is one row for each
program: equal bit for bit or not, the operators on the device, and the errors that were seen. The exit status is 1 if a
program differs, fails, or never uses the device.

Optimizers take their `foreach` implementation on CUDA if nothing else is asked for, and so they do on the emulated
device. That of NAdam and RAdam rounds differently, and that of SGD with Nesterov momentum changes the gradients.
Programs with these ask for it on both devices.
"""

from __future__ import annotations

import argparse
import copy
import io
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset, TensorDataset

from devlint.runtime import emulate, record

Tensors = list[torch.Tensor]
PROGRAMS: dict[str, Callable[[str], Tensors]] = {}


def program(function: Callable[[str], Tensors]) -> Callable[[str], Tensors]:
    """Add a program to the table."""
    PROGRAMS[function.__name__.replace("_", " ")] = function
    return function


def set_seed(seed: int) -> None:
    """Seed everything, as programs do."""
    random.seed(seed)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed(seed)
        torch.cuda.manual_seed_all(seed)
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = False


def weights(*models: nn.Module) -> Tensors:
    """Return the parameters and buffers of models, and the gradients."""
    found = [value for model in models for value in model.state_dict().values()]
    return found + [p.grad for model in models for p in model.parameters() if p.grad is not None]


@program
def convolutions_with_mixed_precision(device: str) -> Tensors:
    """Train a convolutional network with autocast in bfloat16 and a clipped gradient."""
    set_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 4)
    ).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    scaler = torch.amp.GradScaler(device)
    losses = []
    for _ in range(4):
        images, labels = torch.randn(6, 3, 8, 8).to(device), torch.randint(0, 4, (6,)).to(device)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = F.cross_entropy(model(images).float(), labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach())
    return losses + weights(model)


@program
def text_with_lstm(device: str) -> Tensors:
    """Train a bidirectional LSTM on packed sequences of different lengths."""
    set_seed(1)
    embedding, lstm, head = (
        nn.Embedding(20, 8, padding_idx=0),
        nn.LSTM(8, 6, 2, True, True, 0.1, True),
        nn.Linear(12, 2),
    )
    model = nn.ModuleList([embedding, lstm, head]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for _ in range(3):
        lengths = torch.tensor([5, 3, 2])
        ids = torch.randint(1, 20, (3, 5)).masked_fill(torch.arange(5)[None] >= lengths[:, None], 0).to(device)
        packed = nn.utils.rnn.pack_padded_sequence(embedding(ids), lengths, batch_first=True)
        out, (hidden, _) = lstm(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        loss = F.cross_entropy(head(torch.cat([hidden[-2], hidden[-1]], 1)), ids[:, 0] % 2) + padded.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(model)


class Decoder(nn.Module):
    """A small decoder of tokens with scaled dot-product attention, rotary positions and a tied output."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(30, 16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self.norms = nn.ModuleList([nn.LayerNorm(16), nn.RMSNorm(16)])
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 16))
        self.register_buffer(
            "angles", torch.outer(torch.arange(12.0), 10 ** -torch.linspace(0, 2, 4)), persistent=False
        )

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        """Return queries or keys turned by their positions."""
        angles = self.angles[: x.shape[-2]]
        one, two = x[..., ::2], x[..., 1::2]
        turned = (one * angles.cos() - two * angles.sin(), one * angles.sin() + two * angles.cos())
        return torch.stack(turned, -1).flatten(-2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the scores of the next tokens."""
        x = self.tokens(ids) * 16**0.5
        batch, length, _ = x.shape
        q, k, v = (t.view(batch, length, 2, 8).transpose(1, 2) for t in self.qkv(self.norms[0](x)).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(self.rotated(q), self.rotated(k), v, is_causal=True, dropout_p=0.0)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, 16))
        x = x + self.mlp(self.norms[1](x))
        return x @ self.tokens.weight.T


@program
def language_model(device: str) -> Tensors:
    """Train a decoder with warm-up and gradient accumulation, and sample from it."""
    set_seed(2)
    model = Decoder().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 3))
    losses = []
    for step in range(6):
        ids = torch.randint(0, 30, (2, 9)).to(device)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0) / 2
        loss.backward()
        if step % 2:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        losses.append(loss.detach())
    model.eval()
    ids = torch.zeros(1, 1, dtype=torch.long, device=device)
    with torch.inference_mode():
        for _ in range(6):
            scores = model(ids)[:, -1] / 0.8
            best = torch.topk(scores, 5).values[:, -1:]
            probabilities = scores.masked_fill(scores < best, float("-inf")).softmax(-1)
            ids = torch.cat([ids, torch.multinomial(probabilities, 1)], 1)
    return [*losses, ids.clone(), *weights(model)]


@program
def adversarial_networks(device: str) -> Tensors:
    """Train a generator against a critic with a gradient penalty and spectral norm."""
    set_seed(3)
    generator = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.LeakyReLU(0.2), nn.Linear(16, 2)).to(device)
    critic = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(2, 16)), nn.ReLU(), nn.Linear(16, 1))
    critic = critic.to(device)
    adam = [torch.optim.Adam(model.parameters(), 1e-3, betas=(0.5, 0.9)) for model in (generator, critic)]
    losses = []
    for _ in range(3):
        real = torch.randn(8, 2, device=device) * 0.5 + 2
        fake = generator(torch.randn(8, 4, device=device))
        mixing = torch.rand(8, 1, device=device)
        between = (mixing * real + (1 - mixing) * fake.detach()).requires_grad_()
        slope = torch.autograd.grad(critic(between).sum(), between, create_graph=True)[0]
        loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * (slope.norm(2, dim=1) - 1).square().mean()
        adam[1].zero_grad()
        loss.backward()
        adam[1].step()
        cheating = -critic(fake).mean()
        adam[0].zero_grad()
        cheating.backward()
        adam[0].step()
        losses += [loss.detach(), cheating.detach()]
    return losses + weights(generator, critic)


@program
def variational_autoencoder(device: str) -> Tensors:
    """Train an autoencoder with distributions and the reparametrisation trick."""
    set_seed(4)
    encoder, decoder = nn.Linear(10, 6).to(device), nn.Linear(3, 10).to(device)
    optimizer = torch.optim.RMSprop([*encoder.parameters(), *decoder.parameters()], 1e-2)
    prior = torch.distributions.Normal(torch.zeros(3, device=device), torch.ones(3, device=device))
    losses = []
    for _ in range(3):
        x = torch.rand(5, 10).to(device)
        mean, spread = encoder(x).chunk(2, -1)
        posterior = torch.distributions.Normal(mean, F.softplus(spread) + 1e-4)
        again = torch.distributions.Bernoulli(logits=decoder(posterior.rsample()))
        fit = again.log_prob((x > 0.5).float()).sum(-1)
        loss = (torch.distributions.kl_divergence(posterior, prior).sum(-1) - fit).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(encoder, decoder)


@program
def policy_gradient(device: str) -> Tensors:
    """Learn to balance in a toy environment with an actor, a critic and a buffer of steps."""
    set_seed(5)
    actor, critic = nn.Linear(3, 2).to(device), nn.Linear(3, 1).to(device)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 1e-2)
    losses = []
    for _ in range(2):
        state, steps = torch.zeros(3), []
        for _ in range(8):
            seen = state.to(device)
            choices = torch.distributions.Categorical(logits=actor(seen))
            action = choices.sample()
            state = state * 0.9 + torch.tensor([1.0, -1.0])[action.item()] * 0.1 + torch.randn(3) * 0.01
            steps.append((choices.log_prob(action), critic(seen).squeeze(), -float(state.abs().sum())))
        returns, total = [], 0.0
        for _, _, reward in reversed(steps):
            total = reward + 0.99 * total
            returns.insert(0, total)
        wanted = torch.tensor(returns, device=device)
        values = torch.stack([value for _, value, _ in steps])
        advantage = (wanted - values).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        loss = -(torch.stack([p for p, _, _ in steps]) * advantage).mean() + F.smooth_l1_loss(values, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(actor, critic)


@program
def deep_q_learning(device: str) -> Tensors:
    """Learn values of actions from a replay memory with a target network."""
    set_seed(6)
    online = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
    target = copy.deepcopy(online).requires_grad_(False)
    optimizer = torch.optim.Adam(online.parameters(), 1e-3)
    memory = [(torch.randn(4), random.randrange(2), random.random(), torch.randn(4), i % 7 == 0) for i in range(40)]
    losses = []
    for _ in range(4):
        states, actions, rewards, after, ended = zip(*random.sample(memory, 8), strict=True)
        values = online(torch.stack(states).to(device)).gather(1, torch.tensor(actions, device=device)[:, None])
        with torch.no_grad():
            best = target(torch.stack(after).to(device)).max(1).values
            best[torch.tensor(ended, device=device)] = 0.0
            wanted = torch.tensor(rewards, device=device) + 0.99 * best
        loss = F.huber_loss(values.squeeze(1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for slow, quick in zip(target.parameters(), online.parameters(), strict=True):
            slow.data.lerp_(quick.data, 0.05)
        losses.append(loss.detach())
    return losses + weights(online, target)


@program
def graph_network(device: str) -> Tensors:
    """Train a graph network that gathers and scatters messages along edges, with attention."""
    set_seed(7)
    nodes, edges = torch.randn(6, 4).to(device), torch.randint(0, 6, (2, 15)).to(device)
    message, score, update = nn.Linear(8, 4).to(device), nn.Linear(8, 1).to(device), nn.GRUCell(4, 4).to(device)
    optimizer = torch.optim.Adagrad([*message.parameters(), *score.parameters(), *update.parameters()], 0.05)
    losses = []
    for _ in range(3):
        x = nodes
        for _ in range(2):
            source, sink = edges
            pair = torch.cat([x[source], x[sink]], -1)
            raw = F.leaky_relu(score(pair)).squeeze(-1)
            top = torch.full((6,), -1e9, device=device).scatter_reduce(0, sink, raw, "amax")
            power = (raw - top[sink]).exp()
            share = power / torch.zeros(6, device=device).index_add(0, sink, power)[sink]
            gathered = torch.zeros(6, 4, device=device).scatter_add(
                0, sink[:, None].expand(-1, 4), message(pair) * share[:, None]
            )
            x = update(gathered, x)
        adjacency = torch.sparse_coo_tensor(edges, torch.ones(15, device=device), (6, 6)).coalesce()
        loss = (torch.sparse.mm(adjacency, x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(message, score, update)


@program
def diffusion(device: str) -> Tensors:
    """Train a denoiser with a schedule of noise and an average of its weights, and sample from the average."""
    set_seed(8)
    betas = torch.linspace(1e-4, 0.2, 10, device=device)
    kept = torch.cumprod(1 - betas, 0)
    model = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 2)).to(device)
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    losses = []
    for _ in range(4):
        clean = torch.randn(8, 2, device=device)
        step = torch.randint(0, 10, (8,), device=device)
        noise = torch.randn_like(clean)
        share = kept[step][:, None]
        noisy = share.sqrt() * clean + (1 - share).sqrt() * noise
        loss = F.mse_loss(model(torch.cat([noisy, step[:, None] / 10], 1)), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
        losses.append(loss.detach())
    x = torch.randn(4, 2, device=device)
    with torch.no_grad():
        for step in reversed(range(10)):
            time = torch.full((4, 1), step / 10, device=device)
            x = (x - betas[step] / (1 - kept[step]).sqrt() * average(torch.cat([x, time], 1))) / (
                1 - betas[step]
            ).sqrt()
            if step:
                x = x + betas[step].sqrt() * torch.randn_like(x)
    return [*losses, x, *weights(model, average)]


@program
def checkpoint_and_resume(device: str) -> Tensors:
    """Train, save everything, load it into new objects, and go on as if nothing had happened."""

    def build() -> tuple[nn.Module, torch.optim.Optimizer, Any]:
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.Linear(8, 1)).to(device)
        optimizer = torch.optim.Adam(model.parameters(), 1e-2, amsgrad=True)
        return model, optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=20)

    def train(parts: tuple[nn.Module, torch.optim.Optimizer, Any], steps: int) -> Tensors:
        model, optimizer, schedule = parts
        losses = []
        for _ in range(steps):
            loss = model(torch.randn(5, 4, device=device)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.detach())
        return losses

    set_seed(9)
    parts = build()
    losses = train(parts, 3)
    saved = io.BytesIO()
    state = {"parts": [part.state_dict() for part in parts], "host": torch.get_rng_state(), "device": None}
    if device != "cpu":
        state["device"] = torch.cuda.get_rng_state_all()
    torch.save(state, saved)
    straight = train(parts, 3)
    saved.seek(0)
    state = torch.load(saved, map_location="cpu")
    resumed = build()
    for part, values in zip(resumed, state["parts"], strict=True):
        part.load_state_dict(values)
    torch.set_rng_state(state["host"])
    if state["device"] is not None:
        torch.cuda.set_rng_state_all(state["device"])
    again = train(resumed, 3)
    assert all(torch.equal(one, two) for one, two in zip(straight, again, strict=True))
    return losses + again + weights(resumed[0])


@program
def meta_learning_with_torch_func(device: str) -> Tensors:
    """Take an inner step per task with torch.func: vmap over tasks, grad, functional_call, and a Jacobian."""
    set_seed(10)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, nesterov=True, momentum=0.5, foreach=True)

    def loss_of(values: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(torch.func.functional_call(model, values, (x,)), y)

    def after_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        values = dict(model.named_parameters())
        slopes = torch.func.grad(loss_of)(values, x, y)
        return loss_of({name: value - 0.1 * slopes[name] for name, value in values.items()}, x, y)

    losses = []
    for _ in range(2):
        x, y = torch.randn(3, 5, 2, device=device), torch.randn(3, 5, 1, device=device)
        loss = torch.vmap(after_step)(x, y).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    jacobian = torch.func.jacrev(lambda point: model(point))(torch.ones(2, device=device))
    forward = torch.func.jvp(model, (torch.ones(2, device=device),), (torch.ones(2, device=device),))[1]
    return [*losses, jacobian.detach(), forward.detach(), *weights(model)]


class Rounding(torch.autograd.Function):
    """Rounding with the gradient of the identity, clipped."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, scale: float) -> torch.Tensor:
        """Return the input rounded to multiples of the scale."""
        ctx.save_for_backward(x)
        ctx.scale = scale
        return torch.round(x / scale) * scale

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        """Return the gradient where the input is small."""
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() < 1 / ctx.scale).to(gradient.dtype), None


@program
def custom_gradient_and_hooks(device: str) -> Tensors:
    """Train with a function of its own gradient, and hooks on modules, tensors and gradients."""
    set_seed(11)
    model = nn.Sequential(nn.Linear(3, 6), nn.Linear(6, 2)).to(device)
    seen: Tensors = []
    handles = [
        model[0].register_forward_hook(lambda module, given, out: seen.append(out.detach().mean())),
        model[0].register_full_backward_hook(lambda module, into, out: seen.append(out[0].norm())),
        model[1].weight.register_hook(lambda gradient: gradient.clamp(-0.1, 0.1)),
        model[1].bias.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone())),
    ]
    optimizer = torch.optim.NAdam(model.parameters(), 1e-2, foreach=True)
    for _ in range(3):
        hidden = Rounding.apply(model[0](torch.randn(4, 3, device=device)), 0.25)
        hidden.register_hook(lambda gradient: gradient * 2)
        loss = model[1](hidden).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.detach())
    for handle in handles:
        handle.remove()
    return seen + weights(model)


@program
def gradient_checkpointing(device: str) -> Tensors:
    """Train with recomputed activations, of both kinds, with dropout inside."""
    set_seed(12)
    blocks = nn.ModuleList(nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Dropout(0.2)) for _ in range(3)).to(device)
    optimizer = torch.optim.Adamax(blocks.parameters(), 1e-2)
    losses = []
    for reentrant in (False, True, False):
        x = torch.randn(4, 6, device=device, requires_grad=True)
        out = x
        for block in blocks:
            out = checkpoint(block, out, use_reentrant=reentrant)
        loss = out.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(blocks)


class Rows(Dataset):
    """Rows that are augmented at random when they are read."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.full((4,), float(index)) + torch.randn(4), index % 3


@program
def loader_with_workers(device: str) -> Tensors:
    """Train on batches of worker processes, with pinned memory and copies that do not block."""
    set_seed(13)
    loader = DataLoader(Rows(), 4, shuffle=True, num_workers=2, pin_memory=device != "cpu", drop_last=True)
    model = nn.Linear(4, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    losses = []
    for _ in range(2):
        for rows, labels in loader:
            rows, labels = rows.to(device, non_blocking=True), labels.to(device, non_blocking=True)
            loss = F.cross_entropy(model(rows), labels, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        schedule.step()
    return losses + weights(model)


@program
def schedulers_and_early_stopping(device: str) -> Tensors:
    """Validate after each epoch, lower the rate on a plateau, and keep the best weights."""
    set_seed(14)
    rows = TensorDataset(torch.randn(24, 5), torch.randn(24, 1))
    train, test = torch.utils.data.random_split(rows, [16, 8])
    model = nn.Sequential(nn.Linear(5, 8), nn.ELU(), nn.Linear(8, 1)).to(device)
    optimizer = torch.optim.Adam([{"params": model[0].parameters(), "lr": 1e-2}, {"params": model[2].parameters()}])
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    best, kept, losses = float("inf"), model.state_dict(), []
    for _ in range(4):
        model.train()
        for x, y in DataLoader(train, 8, shuffle=True):
            optimizer.zero_grad()
            F.l1_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            errors = [F.mse_loss(model(x.to(device)), y.to(device)) for x, y in DataLoader(test, 4)]
        error = torch.stack(errors).mean()
        schedule.step(error.item())
        if error.item() < best:
            best, kept = error.item(), copy.deepcopy(model.state_dict())
        losses.append(error)
    model.load_state_dict(kept)
    return losses + weights(model)


@program
def compiled_model(device: str) -> Tensors:
    """Train a model that the emulated run returns from torch.compile as it is."""
    set_seed(15)
    model = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 2)).to(device)
    step = torch.compile(model) if device != "cpu" else model
    optimizer = torch.optim.Adam(model.parameters(), 1e-2, foreach=True)
    losses = []
    for _ in range(3):
        loss = step(torch.randn(5, 4, device=device)).logsumexp(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(model)


@program
def segmentation(device: str) -> Tensors:
    """Train a network that shrinks and grows images, with a loss of overlaps and group norms."""
    set_seed(16)
    down = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.GroupNorm(2, 4), nn.SiLU()).to(device)
    up = nn.ConvTranspose2d(4, 4, 2, 2).to(device)
    head = nn.Conv2d(5, 2, 1).to(device)
    optimizer = torch.optim.RAdam([*down.parameters(), *up.parameters(), *head.parameters()], 1e-2, foreach=True)
    losses = []
    for _ in range(3):
        image = torch.rand(2, 1, 8, 8).to(device)
        mask = (image[:, 0] > 0.5).long()
        grown = F.interpolate(up(down(image)), scale_factor=1.0, mode="bilinear", align_corners=False)
        scores = head(torch.cat([image, F.pad(grown, (0, 0, 0, 0))], 1)).softmax(1)
        wanted = F.one_hot(mask, 2).permute(0, 3, 1, 2).to(scores.dtype)
        overlap = 2 * (scores * wanted).sum((2, 3)) / (scores + wanted).sum((2, 3)).clamp(min=1e-6)
        loss = 1 - overlap.mean() + F.nll_loss((scores + 1e-6).log(), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(down, up, head)


@program
def contrastive_learning(device: str) -> Tensors:
    """Learn from two views of each row with a temperature, a queue and a momentum encoder."""
    set_seed(17)
    encoder = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4)).to(device)
    slow = copy.deepcopy(encoder)
    temperature = nn.Parameter(torch.tensor(0.1, device=device))
    queue = F.normalize(torch.randn(4, 16), dim=0).to(device)
    optimizer = torch.optim.SGD([*encoder.parameters(), temperature], 0.05)
    losses = []
    for step in range(3):
        rows = torch.randn(4, 6).to(device)
        one = F.normalize(encoder(rows + 0.1 * torch.randn_like(rows)), dim=1)
        with torch.no_grad():
            for old, new in zip(slow.parameters(), encoder.parameters(), strict=True):
                old.mul_(0.9).add_(new, alpha=0.1)
            two = F.normalize(slow(rows + 0.1 * torch.randn_like(rows)), dim=1)
        scores = torch.cat([torch.einsum("nc,nc->n", one, two)[:, None], one @ queue], 1) / temperature
        loss = F.cross_entropy(scores, torch.zeros(4, dtype=torch.long, device=device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue[:, step * 4 : step * 4 + 4] = two.T
        losses.append(loss.detach())
    return [*losses, queue, temperature.detach(), *weights(encoder, slow)]


@program
def differential_equation_with_adjoint(device: str) -> Tensors:
    """Fit the drift of a differential equation through its solver, and refine it with L-BFGS."""
    set_seed(18)
    drift = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
    start, goal = torch.tensor([[1.0, 0.0]], device=device), torch.tensor([[0.0, 1.0]], device=device)

    def solve() -> torch.Tensor:
        y = start
        for _ in range(10):
            first = drift(y)
            second = drift(y + 0.05 * first)
            y = y + 0.1 * second
        return y

    optimizer = torch.optim.LBFGS(drift.parameters(), 0.5, max_iter=4, line_search_fn="strong_wolfe")
    losses = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(solve(), goal)
        loss.backward()
        losses.append(loss.detach())
        return loss

    for _ in range(2):
        optimizer.step(closure)
    return losses + weights(drift)


@program
def physics_informed_network(device: str) -> Tensors:
    """Train on the residual of an equation, with second derivatives, in float64."""
    set_seed(19)
    model = nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1)).double().to(device)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for _ in range(3):
        x = torch.rand(7, 1, dtype=torch.float64, device=device).requires_grad_()
        y = model(x)
        (slope,) = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
        (bend,) = torch.autograd.grad(slope, x, torch.ones_like(slope), create_graph=True)
        loss = (bend + torch.sin(x)).square().mean() + model(torch.zeros(1, 1, dtype=torch.float64, device=device)) ** 2
        optimizer.zero_grad()
        loss.sum().backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(model)


@program
def mixture_of_experts(device: str) -> Tensors:
    """Route rows to experts by index, combine them, and balance the load, in a data parallel module."""
    set_seed(20)
    experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
    model = nn.ModuleDict({"gate": nn.Linear(4, 3), "experts": experts}).to(device)
    head: nn.Module = nn.DataParallel(nn.Linear(4, 2)).to(device)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], 1e-2)
    losses = []
    for _ in range(3):
        rows = torch.randn(9, 4).to(device)
        shares, chosen = model["gate"](rows).softmax(-1).topk(2, -1)
        out = torch.zeros_like(rows)
        for number, expert in enumerate(experts):
            row, slot = torch.nonzero(chosen == number, as_tuple=True)
            if row.numel():
                out.index_add_(0, row, expert(rows[row]) * shares[row, slot, None])
        load = torch.bincount(chosen.flatten(), minlength=3).to(rows.dtype)
        loss = F.cross_entropy(head(out), rows.argmax(-1) % 2) + 0.01 * load.std()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + weights(model, head)


def compare(run: Callable[[str], Tensors]) -> tuple[bool, int, list[str]]:
    """Run a program on both devices; return whether its numbers are equal, its operators there, and the errors seen."""
    plain = [tensor.detach().clone() for tensor in run("cpu")]
    with emulate(), record() as report:
        emulated = [tensor.detach().cpu() for tensor in run("cuda")]
    same = len(plain) == len(emulated) and all(map(torch.equal, plain, emulated))
    counted = sum(line.device_operators for line in report.recorder.lines.values())
    return same, counted, sorted({found.code for found in report.diagnostics if found.code < "DEV4"})


def chosen_programs(word: str) -> Iterator[tuple[str, Callable[[str], Tensors]]]:
    """Yield the programs whose names hold a word."""
    yield from ((name, run) for name, run in PROGRAMS.items() if word in name)


def main() -> int:
    """Run the programs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="programs whose name holds WORD")
    good = count = 0
    for name, run in chosen_programs(parser.parse_args().only):
        count += 1
        try:
            same, operators, codes = compare(run)
        except Exception as error:
            print(f"{name:40} FAILED {type(error).__name__}: {error}", flush=True)
            continue
        good += same and operators > 0 and not codes
        print(f"{name:40} {'equal' if same else 'DIFFERS'}  {operators:6} operators  {', '.join(codes)}", flush=True)
    print(f"\n{good} of {count} programs compute what they compute on the CPU, bit for bit (torch {torch.__version__})")
    return int(good < count)


if __name__ == "__main__":
    sys.exit(main())
