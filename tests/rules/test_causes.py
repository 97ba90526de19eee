"""One bug is one finding: of the conflicts that one change mends, the first is reported."""

from __future__ import annotations

import pytest

from .programs import PRELUDE, check, family, lint

ONE = {
    "parts of a module that was not moved": """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, other):
        q = self.query(x)
        k = self.key(other)
        return q @ k.T

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(3, 4)
        self.attention = Attention()

    def forward(self, ids, other):
        return self.attention(self.words(ids), other)

net = Net()
net(torch.ones(4, dtype=torch.int64, device="cuda"), torch.ones(4, 4))  # DEV102
""",
    "what a module that was not moved returns": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        return self.body(x)

net = Net()
features = net(torch.rand(3, 3, device="cuda"))  # DEV102
net.head(features)
""",
    "a tensor that is used twice": """
def blend(image: torch.Tensor):
    image = image.cuda()
    mask = torch.ones(3, 3)
    inside = image * mask  # DEV101
    return inside, image - mask
""",
    "a tensor that an operation combines and an index looks into": """
def neighbours(points: torch.Tensor):
    points = torch.rand(4, 3)
    nearest = points.argmax(1) + torch.arange(4).cuda()  # DEV101
    return points[nearest]
""",
    "a tensor that two functions are given": """
def inside(image, mask):
    return image * mask  # DEV101

def outside(image, mask):
    return image - mask

def blend():
    mask = torch.ones(3, 3)
    image = torch.rand(3, 3).cuda()
    return inside(image, mask), outside(image, mask)
""",
    "a float index that two functions use": """
def parents(words, beams):
    return words.gather(1, beams)  # DEV305

def scores(words, beams):
    return words.index_select(0, beams)

def advance(words: torch.Tensor):
    beams = torch.arange(8) / 2
    return parents(words, beams), scores(words, beams)
""",
    "an input of two modules": """
image = torch.rand(4, 3)
left, right = nn.Linear(3, 3).cuda(), nn.Linear(3, 3).cuda()
left(image)  # DEV102
right(image)
""",
}

SEVERAL = {
    "two tensors that were not moved": """
def blend(image: torch.Tensor):
    image = image.cuda()
    mask, weight = torch.ones(3, 3), torch.rand(3, 3)
    return image * mask, image * weight  # DEV101 DEV101
""",
    "one tensor in two functions": """
MASK = torch.ones(3, 3)

def inside(image: torch.Tensor):
    return image.cuda() * MASK  # DEV101

def outside(image: torch.Tensor):
    return image.cuda() - MASK  # DEV101
""",
    "both parts of a batch": """
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.rand(64, 8), torch.rand(64, 2)), batch_size=16):
    out = model(x)  # DEV102
    loss = F.mse_loss(model(x.cuda()), y)  # DEV101
""",
    "two modules that were not moved": """
x = torch.rand(3, 3, device="cuda")
left, right = nn.Linear(3, 3), nn.Linear(3, 3)
left(x)  # DEV102
right(x)  # DEV102
""",
    "two float indexes": """
def advance(words: torch.Tensor):
    beams, parents = torch.arange(8) / 2, torch.arange(8) / 3
    return words.index_select(0, beams), words.index_select(0, parents)  # DEV305 DEV305
""",
    "two calls of a module that was not moved": """
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))

def first(x: torch.Tensor):
    return net(x.cuda())  # DEV102

def second(x: torch.Tensor):
    return net(x.cuda())  # DEV102
""",
}


@pytest.mark.parametrize("source", ONE.values(), ids=ONE.keys())
def test_one_cause_is_one_finding(source: str) -> None:
    for prefix in ("DEV1", "DEV3"):
        check(source, prefix)


@pytest.mark.parametrize("source", SEVERAL.values(), ids=SEVERAL.keys())
def test_several_causes_are_several_findings(source: str) -> None:
    for prefix in ("DEV1", "DEV3"):
        check(source, prefix)


def test_the_story_names_the_other_places_of_a_tensor() -> None:
    (finding,) = check(ONE["a tensor that is used twice"], "DEV1")
    assert finding.trace[-1].message == "fails here too"
    assert finding.trace[-1].region.start.row == finding.region.start.row + 1


HELPER = """
def blend(left: torch.Tensor, right: torch.Tensor):
    return left + right{mark}
"""
MASKED = """
from {helper} import blend

image, mask = torch.rand(3, 3, device="cuda"), torch.ones(3, 3)

def early():
    return image * mask{mark}

def run():
    blend(image, mask)

{calls}
"""


@pytest.mark.parametrize("helper", ["a_helper", "z_helper"])
@pytest.mark.parametrize("early", [True, False], ids=["the caller fails first", "the helper fails first"])
def test_the_first_operation_on_the_way_is_reported_whatever_the_files_are_called(helper, early, tmp_path) -> None:
    calls = "early()\nrun()" if early else "run()\nearly()"
    mark = "  # DEV101"
    program = MASKED.format(helper=helper, calls=calls, mark=mark if early else "")
    helper_text = HELPER.format(mark="" if early else mark)
    (finding,) = check(f"# file: main.py{program}# file: {helper}.py{helper_text}", "DEV1", tmp_path)
    assert finding.trace[-1].message == "fails here too"
    assert finding.trace[-1].region.filename == (f"{helper}.py" if early else "main.py")


@pytest.mark.parametrize("user", ["a_user", "z_user"])
def test_of_two_programs_the_one_with_the_mistake_is_reported(user, tmp_path) -> None:
    program = f"""
# file: train.py
class Signals:
    def get(self):
        return torch.from_numpy(np.random.normal(size=(3, 3)))

def run():
    signals = Signals().get().to("cuda")  # DEV303
    return signals @ signals

if __name__ == "__main__":
    run()

# file: {user}.py
from train import Signals

signals = Signals().get().to("cuda")
print(signals @ signals)
"""
    (finding,) = check(program, "DEV303", tmp_path)
    assert (finding.trace[-1].message, finding.trace[-1].region.filename) == ("the same here", f"{user}.py")


OPERANDS = {
    "two arguments on the host": (
        """
logits = torch.randn(4, 3, device="cuda")
target, weight = torch.zeros(4, dtype=torch.long), torch.ones(3)
F.cross_entropy(logits, target, weight=weight)
""",
        [("DEV101", "target"), ("DEV101", "weight")],
    ),
    "one of them is a plain attribute": (
        """
class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.ones(3)

    def forward(self, logits):
        return F.cross_entropy(logits, torch.zeros(4, dtype=torch.long), weight=self.weight)
""",
        [("DEV103", "self.weight"), ("DEV105", "torch.zeros")],
    ),
    "two inputs of a module": (
        """
x, other = torch.ones(2, 3), torch.ones(2, 4)
nn.Bilinear(3, 4, 5).cuda()(x, other)
""",
        [("DEV102", "x"), ("DEV102", "other")],
    ),
    "one argument on the host": (
        """
logits, weight = torch.randn(4, 3, device="cuda"), torch.ones(3, device="cuda")
F.cross_entropy(logits, torch.zeros(4, dtype=torch.long), weight=weight)
""",
        [("DEV101", "torch.zeros")],
    ),
    "one tensor twice": (
        """
x, half = torch.ones(3, device="cuda"), torch.full((3,), 0.5)
torch.addcmul(x, half, half)
""",
        [("DEV101", "half")],
    ),
    "two host scalars, of which the operation takes one": (
        """
x = torch.ones(3, device="cuda")
torch.addcmul(x, torch.tensor(2.0), torch.tensor(3.0))
""",
        [("DEV101", "torch.tensor")],
    ),
    "a module that was not moved, and what its input meets": (
        """
x = torch.ones(2, 3, device="cuda")
nn.Linear(3, 3)(x)
""",
        [("DEV102", "nn.Linear")],
    ),
}


@pytest.mark.parametrize(("source", "named"), OPERANDS.values(), ids=OPERANDS.keys())
def test_each_wrong_operand_of_a_call_is_told_once(source: str, named: list[tuple[str, str]]) -> None:
    found = lint(PRELUDE + source, family("DEV1"))
    assert len(found) == len(named)
    for code, name in named:
        assert any(one.code == code and f"`{name}" in one.message for one in found), (code, name)


def test_a_further_operand_is_reported_where_it_is_given_and_its_story_ends_at_the_call() -> None:
    source = PRELUDE + OPERANDS["two arguments on the host"][0]
    first, second = lint(source, family("DEV1"))
    line = source.splitlines()[second.region.start.row - 1]
    assert line[second.region.start.column - 1 : second.region.end.column - 1] == "weight"
    assert second.trace[-1].message == "`weight` on cpu meets `logits` on cuda in `F.cross_entropy`"
    assert second.trace[-1].region == first.region
