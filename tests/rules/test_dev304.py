"""Losses with targets of a dtype they refuse."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "integers moved to an unknown device": """
def loss(logits: torch.Tensor, args, device):
    target = torch.ones(8, dtype=torch.int64)
    F.binary_cross_entropy_with_logits(logits, target.to(device))  # DEV304

def other_loss(logits: torch.Tensor, args, device):
    target = torch.ones(8, dtype=torch.int64)
    F.binary_cross_entropy_with_logits(logits, target.to(args.gpu))  # DEV304
""",
    "one target that is given twice is one mistake": """
def step(criterion, real: torch.Tensor, fake: torch.Tensor):
    label = torch.full((8,), 1)
    loss = F.binary_cross_entropy_with_logits(real, label)  # DEV304
    label.fill_(0)
    return loss + F.binary_cross_entropy_with_logits(fake, label)
""",
    "binary cross entropy with integers": """
p, y = torch.rand(8), torch.ones(8).long()
nn.BCELoss()(p, y)  # DEV304
F.binary_cross_entropy(p, torch.ones(8, dtype=torch.int32))  # DEV304
nn.BCEWithLogitsLoss()(p, torch.full((8,), 1))  # DEV304
""",
    "labels filled with an integer": """
criterion = nn.BCELoss()
real_label = 1
def step(score):
    label = torch.full((8,), real_label)
    return criterion(torch.sigmoid(score), label)  # DEV304
step(torch.rand(8))
""",
    "class indices in int32": """
scores = torch.rand(4, 3)
y = torch.zeros(4, dtype=torch.int32)
F.cross_entropy(scores, y)  # DEV304
nn.CrossEntropyLoss()(scores, torch.tensor([0, 1, 2, 0]).int())  # DEV304
""",
    "floats of fewer dimensions than the scores": """
F.cross_entropy(torch.rand(4, 3), torch.zeros(4))  # DEV304
nn.CrossEntropyLoss()(torch.rand(4, 3, 8, 8), torch.zeros(4, 8, 8))  # DEV304
def contrast(positive, negatives, x):
    scores = positive.reshape(-1, 1)
    for negative in negatives:
        scores = torch.cat((scores, torch.sum(negative).reshape(-1, 1)), dim=1)
    return nn.CrossEntropyLoss()(scores, torch.zeros(x.size(0)).to(scores.device))  # DEV304
""",
    "class indices as floats": """
log = F.log_softmax(torch.rand(4, 3), dim=1)
F.nll_loss(log, torch.zeros(4))  # DEV304
nn.NLLLoss()(log, torch.tensor([0.0, 1.0, 2.0, 0.0]))  # DEV304
""",
}

GOOD = {
    "moved to what may be a tensor of another dtype": """
class Criterion:
    def loss(self, outputs, labels):
        logits = outputs["logits"]
        one_hot = F.one_hot(labels, num_classes=3)
        one_hot = one_hot.to(logits)
        return F.binary_cross_entropy_with_logits(logits.flatten(1), one_hot.flatten(1))
""",
    "cast to the dtype of what an unknown call gave": """
from models import model

target = torch.randint(0, 2, (4,))
logits = model(target)
F.binary_cross_entropy_with_logits(logits, target.to(logits.dtype))
""",
    "what each loss takes": """
scores, p = torch.rand(4, 3), torch.rand(4)
F.cross_entropy(scores, torch.zeros(4).long())
F.nll_loss(F.log_softmax(scores, 1), torch.tensor([0, 1, 2, 0]))
F.binary_cross_entropy(p, torch.ones(4))
nn.BCEWithLogitsLoss()(p, torch.full((4,), 1.0))
""",
    "floats of fewer dimensions where the loss compares values": """
F.l1_loss(torch.rand(4, 3), torch.rand(3))
nn.MarginRankingLoss()(torch.rand(4, 3), torch.rand(4, 3), torch.ones(3))
""",
    "probabilities of one sample, or of as many as there are scores": """
F.cross_entropy(torch.rand(5), torch.rand(5))
def loss(logits: torch.Tensor, several):
    F.cross_entropy(logits, torch.rand(5).to(logits.device))
    F.cross_entropy(torch.cat(several), torch.rand(5))
""",
    "probabilities as targets": """
scores = torch.rand(4, 3)
F.cross_entropy(scores, F.softmax(torch.rand(4, 3), 1))
nn.CrossEntropyLoss(label_smoothing=0.1)(scores, torch.rand(4, 3))
""",
    "uint8 class indices": """
F.cross_entropy(torch.rand(4, 3), torch.zeros(4, dtype=torch.uint8))
""",
    "other dtypes that regression takes": """
p = torch.rand(4)
F.mse_loss(p, torch.ones(4, dtype=torch.float64))
F.mse_loss(p, torch.ones(4).long())
F.l1_loss(p, torch.ones(4).half())
""",
    "cast in time": """
y = torch.ones(4).long()
F.binary_cross_entropy(torch.rand(4), y.float())
F.cross_entropy(torch.rand(4, 3), y.int().long())
""",
    "unknown targets": """
def loss(scores: torch.Tensor, y: torch.Tensor):
    return F.cross_entropy(scores, y) + F.binary_cross_entropy_with_logits(scores, y)
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV304")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV304")


@pytest.mark.parametrize(
    ("call", "message", "advice"),
    [
        (
            "F.binary_cross_entropy(torch.rand(8), y)",
            "`F.binary_cross_entropy` takes floating-point targets, and `y` is int32",
            "cast the targets: `y.float()`",
        ),
        (
            "F.nll_loss(torch.rand(8, 3), y)",
            "`F.nll_loss` takes int64 targets, and `y` is int32",
            "cast the targets: `y.long()`",
        ),
    ],
)
def test_the_finding_says_what_is_taken(call: str, message: str, advice: str) -> None:
    (found,) = check(f"y = torch.ones(8, dtype=torch.int32)\nprint({call})  # DEV304\n", "DEV304")
    assert (found.message, found.help) == (message, advice)
