"""float64 from NumPy, pandas and Python floats that reaches float32 weights."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "inside autocast, which does not cast float64": """
model = nn.Linear(3, 1).cuda()
with torch.autocast("cuda"):
    model(torch.from_numpy(np.random.rand(8, 3)).cuda())  # DEV301
""",
    "a float64 buffer beside float32 weights": """
class Encoding(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("table", torch.from_numpy(np.linspace(0.0, 1.0, n)))  # DEV301
        self.norm = nn.LayerNorm(n)

    def forward(self, x):
        return self.norm(x + self.table)
""",
    "from_numpy into a layer": """
model = nn.Linear(3, 1)
x = torch.from_numpy(np.random.rand(8, 3))  # DEV301
model(x)
""",
    "torch.tensor of an array": """
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
x = torch.tensor(np.linspace(0.0, 1.0, 3))  # DEV301
model(x)
""",
    "as_tensor of an array of Python floats": """
x = torch.as_tensor(np.array([[0.1, 0.2, 0.3]]))  # DEV301
nn.Linear(3, 1)(x)
""",
    "a loaded text": """
table = np.loadtxt("table.csv")
x = torch.from_numpy(table[:, 1:])  # DEV301
nn.Linear(3, 1)(x)
""",
    "standardised on the way": """
def load(path):
    data = np.genfromtxt(path)
    data = (data - data.mean(0)) / data.std(0)
    return torch.tensor(data)  # DEV301

model = nn.Linear(3, 1)
x = load("a.csv") * 2 + 1
print(model(x))
""",
    "moved to the accelerator first": """
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(3, 1).to(device)
x = torch.from_numpy(np.random.randn(8, 3))  # DEV301
model(x.to(device))
""",
    "a matrix product with float32": """
w = torch.randn(3, 4)
x = torch.from_numpy(np.ones((2, 3)))  # DEV301
y = x @ w
""",
    "into a module of the program": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)

    def forward(self, x):
        return self.conv(x)

images = torch.from_numpy(np.zeros((2, 1, 8, 8)))  # DEV301
Net()(images)
""",
}

GOOD = {
    "a float64 table in a module whose weights are float64 too": """
class Encoding(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("table", torch.from_numpy(np.linspace(0.0, 1.0, n)))
        self.norm = nn.LayerNorm(n).double()

    def forward(self, x):
        return self.norm(x + self.table)
""",
    "a float64 table that is cast as a buffer": """
class Encoding(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("table", torch.from_numpy(np.linspace(0.0, 1.0, n)).float())
        self.norm = nn.LayerNorm(n)

    def forward(self, x):
        return self.norm(x + self.table)
""",
    "cast in torch": """
model = nn.Linear(3, 1)
model(torch.from_numpy(np.random.rand(8, 3)).float())
model(torch.from_numpy(np.random.rand(8, 3)).to(torch.float32))
model(torch.tensor(np.random.rand(8, 3), dtype=torch.float32))
model(torch.from_numpy(np.random.rand(8, 3)).to("cpu", torch.float32))
""",
    "Python floats are float32 in torch": """
model = nn.Linear(3, 1)
model(torch.tensor([0.1, 0.2, 0.3]))
model(torch.Tensor([0.1, 0.2, 0.3]))
model(torch.full((3,), 0.5))
""",
    "torch.Tensor and FloatTensor are float32": """
model = nn.Linear(3, 1)
model(torch.Tensor(np.random.rand(8, 3)))
model(torch.FloatTensor(np.random.rand(8, 3)))
""",
    "a model made double": """
model = nn.Linear(3, 1).double()
model(torch.from_numpy(np.random.rand(8, 3)))
other = nn.Linear(3, 1, dtype=torch.float64)
other(torch.from_numpy(np.random.rand(8, 3)))
third = nn.Linear(3, 1)
third.to(torch.float64)
third(torch.from_numpy(np.random.rand(8, 3)))
""",
    "integers": """
embedding = nn.Embedding(10, 3)
embedding(torch.from_numpy(np.array([1, 2, 3])))
embedding(torch.from_numpy(np.random.randint(0, 10, 3)))
""",
    "the weights take the data's dtype": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x.to(self.fc.weight.dtype))

Net()(torch.from_numpy(np.random.rand(8, 3)))
""",
    "arithmetic promotes": """
x = torch.from_numpy(np.random.rand(3))
y = x * torch.rand(3) + 1
z = torch.cat([x, torch.rand(3)])
""",
    "a dtype nobody knows": """
model = nn.Linear(3, 1)
model(torch.from_numpy(np.load("x.npy")))
""",
    "inside autocast": """
model = nn.Linear(3, 1).cuda()
with torch.autocast("cuda"):
    model(torch.from_numpy(np.random.rand(8, 3)).half().cuda())
""",
    "double is the default": """
torch.set_default_dtype(torch.float64)
model = nn.Linear(3, 1)
model(torch.from_numpy(np.random.rand(8, 3)))
""",
    "cast in NumPy": """
model = nn.Linear(3, 1)
model(torch.from_numpy(np.random.rand(8, 3).astype(np.float32)))
model(torch.from_numpy(np.random.rand(8, 3).astype("float32")))
model(torch.from_numpy(np.zeros((8, 3), dtype=np.float32)))
model(torch.from_numpy(np.array([[1.0, 2.0, 3.0]], dtype=np.float32)))
model(torch.from_numpy(np.float32(np.random.rand(8, 3))))
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV301")
    check(source.replace("  # DEV301", ""), "DEV302")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV301")
    check(source, "DEV302")


def test_the_finding_stands_at_the_conversion_and_tells_where_it_ends() -> None:
    source = "model = nn.Linear(3, 1)\nx = torch.from_numpy(np.random.rand(8, 3))  # DEV301\nmodel(x)\n"
    (found,) = check(source, "DEV301")
    assert found.message == (
        "float64 from NumPy reaches `model`, whose weights are float32: this raises, because the dtypes must match"
    )
    assert found.help == "cast it at once: `torch.from_numpy(np.random.rand(8, 3)).to(torch.float32)`"
    assert [(note.region.start.row, note.message) for note in found.trace] == [
        (6, "data made in float64 by `np.random.rand`"),
        (7, "`x` meets the weights of `model`, which are float32"),
    ]


def test_one_tensor_that_meets_many_layers_is_one_finding() -> None:
    check(
        """
a, b = nn.Linear(3, 1), nn.Linear(3, 1)
x = torch.from_numpy(np.random.rand(8, 3))  # DEV301
a(x)
b(x)
""",
        "DEV301",
    )
