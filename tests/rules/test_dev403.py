"""Waits of the host in the steps of a training loop."""

from __future__ import annotations

import pytest

from .programs import check, family, lint

MODEL = """
model = nn.Linear(3, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
BAD = {
    "a loss that is added up": """
def train(batches):
    total = 0.0
    for batch in batches:
        loss = model(batch.cuda()).mean()
        loss.backward()
        total += loss.item()  # DEV403
    return total
""",
    "printed, compared and kept": """
def train(batches, kept):
    for batch in batches:
        loss = model(batch.cuda()).mean()
        loss.backward()
        print(loss)  # DEV403
        model(batch.cuda())
        print(f"loss {loss:.3f}")  # DEV403
        model(batch.cuda())
        kept.append(loss.detach().cpu())  # DEV403
        if torch.isnan(loss):  # DEV403
            break
""",
    "sizes that depend on values": """
def train(batches):
    for batch in batches:
        x = torch.rand(8, 3, device="cuda")
        rows = (x > 0).nonzero()  # DEV403
        positive = x[x > 0]  # DEV403
        model(x).mean().backward()
""",
    "in a function that the loop calls": """
def step(batch):
    loss = model(batch.cuda()).mean()
    loss.backward()
    return loss.item()  # DEV403

def train(batches):
    return [step(batch) for batch in batches]
""",
    "in a helper of the step": """
def log(values, loss):
    values.append(float(loss))  # DEV403

def train(batches, values):
    for batch in batches:
        loss = model(batch.cuda()).mean()
        loss.backward()
        log(values, loss)
""",
    "in the step of a framework": """
import lightning as L

class Lit(L.LightningModule):
    def training_step(self, batch, index):
        x = batch.to("cuda")
        loss = model(x).mean()
        print(loss.item())  # DEV403
        return loss
""",
}

GOOD = {
    "once an epoch": """
def train(batches, epochs):
    for epoch in range(epochs):
        total = torch.zeros((), device="cuda")
        for batch in batches:
            loss = model(batch.cuda()).mean()
            loss.backward()
            total += loss.detach()
        print(total.item())
""",
    "now and then": """
def train(batches, every):
    for number, batch in enumerate(batches):
        loss = model(batch.cuda()).mean()
        loss.backward()
        if number % every == 0:
            print(loss.item())
        log = (number + 1) % every == 0
        if log and number:
            print(loss.item())
        if number == len(batches) - 1:
            print(loss.item())
        if number % every:
            continue
        print(loss.item())
""",
    "in a helper that is called now and then": """
def log(loss):
    print(loss.item())

def train(batches, every):
    for number, batch in enumerate(batches):
        loss = model(batch.cuda()).mean()
        loss.backward()
        if number % every == 0:
            log(loss)
""",
    "validation": """
def train(batches, others, epochs):
    for epoch in range(epochs):
        for batch in batches:
            model(batch.cuda()).mean().backward()
        right = 0
        for batch in others:
            right += (model(batch.cuda()) > 0).sum().item()
        print(right)
""",
    "inference": """
def predict(batches):
    return [model(batch.cuda()).item() for batch in batches]
""",
    "the library's own work": """
def train(batches):
    scaler = torch.amp.GradScaler("cuda")
    for batch in batches:
        loss = model(batch.cuda()).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
""",
    "values of the host, and sizes": """
def train(batches):
    net = nn.Linear(3, 1)
    for batch in batches:
        x = torch.rand(3, 3)
        loss = net(x).mean()
        loss.backward()
        print(loss.item(), x.size(0), batch.cuda().shape)
""",
    "a read when all is done": """
def train(batches):
    for batch in batches:
        x = batch.cuda()
        loss, other = model(x).mean(), model(x).sum()
        loss.backward()
        torch.cuda.synchronize()
        print(loss.item(), other.item())
""",
    "a copy for which nobody waits": """
def train(batches, kept):
    for batch in batches:
        loss = model(batch.cuda()).mean()
        loss.backward()
        kept.append(loss.detach().to("cpu", non_blocking=True))
""",
    "a single step, and a test": """
def once(batch):
    loss = model(batch.cuda()).mean()
    loss.backward()
    return loss.item()

print(once(torch.rand(2, 3)))
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(MODEL + source, "DEV403")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(MODEL + source, "DEV403")


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        ("loss.item()", "`.item()` makes a Python number of its value"),
        ("print(loss)", "`print()` shows its values"),
        ("kept = loss.cpu()", "the host needs the copy"),
        ("loss and 1", "a test asks for its value"),
        ("loss.nonzero()", "`.nonzero()` needs its values for the size of the result"),
    ],
)
def test_the_message_tells_which_operation_waits_and_why(wait: str, said: str) -> None:
    source = f"""import torch
def train(batches):
    for batch in batches:
        loss = batch.cuda().mean()
        loss.backward()
        x = {wait}
"""
    (found,) = lint(source, family("DEV403"))
    assert found.message == f"the host waits for `loss` in every training step: {said}"


def test_only_the_first_of_several_reads_waits() -> None:
    source = """import torch
def train(batches):
    for batch in batches:
        loss, other = batch.cuda().mean(), batch.cuda().sum()
        loss.backward()
        print(loss.item(), other.item(), float(loss), f"{other}")
"""
    (found,) = lint(source, family("DEV403"))
    assert found.message.startswith("the host waits for `loss`")


@pytest.mark.parametrize(
    ("read", "reason", "kept"),
    [
        ('f"{loss}"', "the f-string shows its values", "`loss.detach()`"),
        ("kept = loss.cpu()", "the host needs the copy", "`loss.detach()`"),
        ("print(loss * 2)", "`print()` shows its values", "its detached value"),
    ],
)
def test_the_advice_says_what_to_collect(read: str, reason: str, kept: str) -> None:
    source = f"""import torch
def train(batches):
    for batch in batches:
        loss = batch.cuda().mean()
        loss.backward()
        {read}
"""
    (found,) = lint(source, family("DEV403"))
    assert found.message.endswith(reason)
    assert found.help == f"read it only every N steps, or collect {kept} and read all of them after the loop"
