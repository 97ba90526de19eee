"""The same tensor transferred in every iteration."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "a table": """
weights = torch.rand(10, 3)
for x in torch.rand(8, 10, device="cuda"):
    y = x @ weights.to("cuda")  # DEV402
""",
    "an attribute": """
class Scheduler:
    def __init__(self):
        self.alphas = torch.linspace(0, 1, 100)

scheduler = Scheduler()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for step in range(100):
    alphas = scheduler.alphas.to(device)  # DEV402
""",
    "a function that moves its argument": """
def prepare(batch, device):
    batch = {key: value.to(device) for key, value in batch.items()}
    return batch

def learn(batch: dict[str, torch.Tensor], model, passes):
    for _ in range(passes):
        print(model(prepare(batch, "cuda")))  # DEV402
""",
    "a method that moves its argument": """
class Learner:
    def __init__(self):
        self.device = torch.device("cuda")
        self.weights = torch.rand(1000, 1000)

    def place(self, x, device="cuda:0"):
        return x.to(device)

    def learn(self, batches):
        for batch in batches:
            print(batch @ self.place(self.weights))  # DEV402
            print(batch @ self.place(self.weights, device=self.device))  # DEV402

Learner().learn(torch.rand(9, 10, 1000, device="cuda"))
""",
    "each entry of a dict": """
def learn(batch: dict[str, torch.Tensor], model, passes):
    for _ in range(passes):
        print(model({key: value.to("cuda") for key, value in batch.items()}))  # DEV402
""",
    "read by a function in the function": """
def train(pool, games, model, steps):
    scores = torch.zeros(8, 3)
    def play(game):
        game.score = scores[game]
    for step in range(steps):
        pool.map(play, games)
        print(model(scores.to("cuda")))  # DEV402
""",
    "in a while loop": """
mask = torch.ones(3)
while True:
    m = mask.cuda()  # DEV402
""",
    "the inner of two loops": """
weights = torch.rand(3)
for epoch in range(3):
    for x in torch.rand(8, 3).cuda():
        print(x * weights.cuda())  # DEV402
""",
    "a device that the caller chooses": """
def train(loader, device):
    weights = torch.ones(3)
    for x in loader:
        loss = (x.to(device) * weights.to(device)).sum()  # DEV402
""",
    "in another form": """
mean = torch.rand(3)
table = torch.rand(10, 3)
for x in torch.rand(8, 3, device="cuda"):
    y = x - mean.view(1, -1).to("cuda")  # DEV402
    z = x * (1 / mean).to(torch.device("cuda"))  # DEV402
    w = x @ table[:3].t().to("cuda")  # DEV402
""",
    "under a condition that does not change": """
mask = torch.ones(3)
for x in torch.rand(8, 3):
    if torch.cuda.is_available():
        m = mask.cuda()  # DEV402
""",
    "an index of unknown origin for a function": """
def run(args, labels, index, device):
    return labels[index].sum()

def main(args, dataset):
    device = torch.device("cuda:0")
    labels, index = dataset.load()
    for i in range(args.n_runs):
        run(args, labels, index.to(device), device)  # DEV402
""",
    "labels of unknown origin for a loss": """
import torch.nn.functional as F

def main(labels, index, model, graph):
    device = torch.device("cuda:0")
    model = model.to(device)
    for epoch in range(30):
        loss = F.cross_entropy(model(graph)[index], labels.to(device)[index])  # DEV402
""",
    "operands and indices of unknown origin": """
def main(data, x: torch.Tensor):
    w = data.load()
    for i in range(3):
        print(data.rows[w.to("cuda")])  # DEV402
        print(torch.matmul(data.a, w.cuda()))  # DEV402
        print(x.cuda() + i)  # DEV402
""",
}

GOOD = {
    "a function that gets another batch each time": """
def prepare(batch: dict[str, torch.Tensor], device):
    return {key: value.to(device) for key, value in batch.items()}

def learn(loader, model):
    for batch in loader:
        print(model(prepare(batch, "cuda")))
    while loader:
        batch = next(loader)
        print(model(prepare(batch, "cuda")))
""",
    "a function that moves something else, or now and then": """
def scaled(x, device):
    x = x * torch.rand(1000, 1000)
    return x.to(device)

def sometimes(x, device, step):
    if step % 100 == 0:
        return x.to(device)
    return None

def learn(x: torch.Tensor, steps):
    for step in range(steps):
        print(scaled(x, "cuda"), sometimes(x, "cuda", step))
""",
    "the batches of a loader, epoch by epoch": """
class Trainer:
    def step(self, batch):
        return [t.to("cuda") for t in batch]

    def fit(self, loader, epochs):
        for _ in range(epochs):
            print([self.step(batch) for batch in loader])

Trainer().fit(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(99, 999))), 9)
""",
    "a list that grows": """
def learn(model, steps):
    seen = []
    for step in range(steps):
        seen.append(torch.rand(1000, 1000))
        print(model([one.to("cuda") for one in seen]))
""",
    "another part or order each time": """
table = torch.rand(10, 3)
for i in range(3):
    y = table[i : i + 2].to("cuda")
    z = table[: torch.randint(9, ()).item() + 1].to("cuda")
    w = table.roll(i).to("cuda")
""",
    "changed in place": """
mean = torch.rand(3)
for x in torch.rand(8, 3):
    mean.mul_(0.9).add_(0.1 * x)
    y = mean.view(1, -1).to("cuda")
""",
    "before the loop": """
weights = torch.rand(10, 3).to("cuda")
for x in torch.rand(8, 10, device="cuda"):
    y = x @ weights
""",
    "the loop's own tensors": """
for x in torch.rand(8, 3):
    x = x.to("cuda")
    y = x[0].to("cuda")
from torch.utils.data import DataLoader, TensorDataset
for x, y in DataLoader(TensorDataset(torch.rand(8, 3), torch.rand(8))):
    x, y = x.cuda(), y.cuda()
""",
    "rebound, so that later transfers do nothing": """
weights = torch.rand(3)
for x in torch.rand(8, 3, device="cuda"):
    weights = weights.to("cuda")
    print(x * weights)
""",
    "a module": """
model = nn.Linear(3, 3)
for x in torch.rand(8, 3, device="cuda"):
    model.to("cuda")
    print(model(x))
""",
    "changed in place by the loop": """
frame = torch.zeros(3)
for i in range(8):
    frame[:] = i
    print(frame.cuda())
for i in range(8):
    frame += 1
    print(frame.cuda())
for i in range(8):
    frame.copy_(torch.rand(3))
    print(frame.cuda())
""",
    "another device each time": """
x = torch.rand(3)
for device in ("cuda:0", "cuda:1"):
    print(x.to(device))
""",
    "another part each time": """
data = torch.rand(8, 3)
for i in range(8):
    print(data[i].cuda(), data[i:i + 2].cuda())
""",
    "a parameter that is trained": """
model = nn.Linear(3, 1)
for step in range(8):
    print(model.weight.cuda())
""",
    "only in the first iteration": """
table, cached = torch.rand(3), None
for i in range(8):
    if i == 0:
        first = table.cuda()
    if cached is None:
        cached = table.cuda()
""",
    "to the host, of what changes": """
state = torch.rand(3, device="cuda")
for i in range(8):
    state.mul_(2)
    print(state.cpu())
""",
    "written to by out=": """
frame = torch.zeros(3)
for i in range(8):
    torch.rand(3, out=frame)
    print(frame.cuda())
""",
    "what is not known to be a tensor": """
def main(data, tokenizer, model, device):
    net, batch = data.build(), tokenizer("a")
    for i in range(3):
        print(run(net.to("cuda"), i))
        print(model(**batch.to("cuda")))
        print(batch.to("cuda")["input_ids"])
        step = data.to("cuda")
        step.run()

def run(model, x):
    return model(x)
""",
    "of unknown origin, and another one each time or to any device": """
def main(data, xs, table, device):
    for x in xs:
        index = data.load()
        print(data.rows[index.to("cuda")], data.rows[x.to("cuda")])
    for i in range(3):
        table.add_(1)
        print(data.rows[table.to("cuda")])
    found = data.load()
    for i in range(3):
        print(data.rows[found.to(device)])
""",
    "of unknown origin, in a module": """
class Net(nn.Module):
    def forward(self, x, mask):
        for i in range(3):
            x = x + mask.cuda()
        return x
""",
    "filled by a function in the function": """
def train(pool, games, model, steps):
    scores = torch.zeros(8, 3)
    for step in range(steps):
        def play(game):
            scores[game] = game
        pool.map(play, games)
        print(model(scores.to("cuda")))
""",
    "filled by a call": """
def read_into(buffer):
    buffer.fill_(1)

frame = torch.zeros(3)
for i in range(8):
    read_into(frame)
    print(frame.cuda())
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV402")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV402")


def test_the_finding_says_what_to_move_once() -> None:
    (found,) = check("w = torch.rand(3)\nfor x in range(3):\n    print(w.cuda())  # DEV402\n", "DEV402")
    assert found.message == "`w` is moved from the host to cuda again in every iteration ([3] float32)"
    assert found.help == "move `w` once, before the loop"
    assert [note.region.start.row for note in found.trace] == [5]
