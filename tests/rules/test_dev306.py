"""Casts on the side of a transfer where they make it larger."""

from __future__ import annotations

import pytest

from devlint.diagnostic import Severity

from .programs import check

BAD = {
    "cast after the transfer": """
x = torch.rand(512, 512).exp()
a = x.to("cuda").half()  # DEV306
b = x.cuda().bfloat16()  # DEV306
c = x.cuda(non_blocking=True).to(torch.float16)  # DEV306
d = torch.arange(100000).clone().to("cuda").to(dtype=torch.int32)  # DEV306
e = torch.from_numpy(np.loadtxt('x') * 2).to("cuda").float()  # DEV306
""",
    "in two statements": """
for _ in range(1000):
    x = torch.rand(512, 512).exp()
    x = x.to("cuda")  # DEV306
    x = x.half()
    print(x.sum())
""",
    "cast before the transfer": """
frame = torch.zeros(1080, 1920, 3, dtype=torch.uint8).clone()
a = frame.float().to("cuda")  # DEV306
b = frame.long().cuda()  # DEV306
c = frame.to(torch.float32).to("cuda", non_blocking=True)  # DEV306
""",
    "images of a camera": """
def video(net, camera, device):
    while True:
        frame = np.asarray(camera.read(), dtype=np.uint8)
        net(torch.from_numpy(frame).float().to(device).unsqueeze(0))  # DEV306
""",
    "where there is an accelerator": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
mask = torch.rand(512, 512) > 0.5
for _ in range(1000):
    m = mask.float().to(device)  # DEV306
""",
}
GOOD = {
    "cast with the transfer": """
x = torch.rand(512, 512).exp()
a = x.to("cuda", torch.float16)
b = x.to(device="cuda", dtype=torch.bfloat16, non_blocking=True)
c = torch.zeros(512, 512, dtype=torch.uint8).clone().to("cuda", torch.float32)
""",
    "in the better order": """
x = torch.rand(512, 512).exp()
a = x.half().to("cuda")
b = torch.zeros(512, 512, dtype=torch.uint8).clone().cuda().float()
c = torch.zeros(512, 512, dtype=torch.int64).clone().float().cuda()
""",
    "of the same size": """
a = torch.zeros(512, 512, dtype=torch.int32).clone().cuda().float()
b = torch.zeros(512, 512, dtype=torch.bfloat16).clone().half().cuda()
c = torch.rand(512, 512).exp().float().cuda()
""",
    "labels": """
y = torch.randint(0, 2, (512, 512))
a = y.to("cuda").float()
""",
    "cast on one path only": """
def move(half: bool):
    x = torch.rand(512, 512).exp().to("cuda")
    if half:
        x = x.half()
    return x
""",
    "both dtypes are used": """
x = torch.rand(512, 512).exp()
wide = x.to("cuda")
narrow = wide.half()
print(wide.sum() - narrow.sum())
y = torch.zeros(512, 512, dtype=torch.uint8).clone()
z = y.float()
print(z.mean())
moved = z.to("cuda")
""",
    "computed in between": """
x = torch.rand(512, 512).exp().to("cuda")
x = x / x.max()
x = x.half()
y = torch.zeros(512, 512, dtype=torch.uint8).clone().float()
y = (y / 255).to("cuda")
z = torch.rand(512, 512).exp().to("cuda")
z /= 255
z = z.half()
u = torch.zeros(512, 512, dtype=torch.uint8).clone().float()
u.div_(255)
u = u.to("cuda")
""",
    "moved once, cast often": """
x = torch.rand(512, 512).exp().to("cuda")
for _ in range(1000):
    y = x.half()
    print(y.sum())
""",
    "unknown dtypes and devices": """
def move(x: torch.Tensor, dtype, device: torch.device):
    a = x.to(device).half()
    b = x.float().to(device)
    c = torch.rand(512, 512).exp().to(device).to(dtype)
    d = torch.rand(512, 512, dtype=dtype).cuda().half()
    return a, b, c, d
""",
    "not from the host": """
x = torch.rand(512, 512, device="cuda")
a = x.half().float().cpu()
b = x.cpu().half()
c = x.to("cuda:1").half()
d = torch.rand(512, 512).exp().to("cpu").half()
""",
    "modules": """
net = nn.Linear(512, 512).cuda().half()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV306")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV306")


def test_the_message_says_how_much_is_moved() -> None:
    (narrowed,) = check("x = torch.rand(9, 999).exp().cuda().half()  # DEV306\n", "DEV306")
    assert narrowed.message == (
        "`torch.rand(9, 999).exp()` goes to cuda as float32 and is cast to float16 there: twice the bytes are moved"
    )
    (widened,) = check("x = torch.zeros(9, 999, dtype=torch.uint8).clone()\ny = x.float().cuda()  # DEV306\n", "DEV306")
    assert widened.message == "`x` is cast from uint8 to float32 before it goes to cuda: four times the bytes are moved"


def test_it_is_only_an_information() -> None:
    source = "while True:\n    print(torch.zeros(9, 9999, dtype=torch.uint8).clone().float().cuda())  # DEV306\n"
    (found,) = check(source, "DEV306")
    assert found.severity is Severity.INFO


def test_a_statement_of_float64_is_one_finding() -> None:
    check("x = torch.from_numpy(np.loadtxt('x') * 2).cuda()  # DEV303\nx = x.float()\n", "DEV3")


def test_what_is_made_from_nothing_is_another_finding() -> None:
    source = "x = torch.ones(64, 64).cuda().half(){0}\nwhile True:\n    y = torch.ones(99, 999).long().cuda(){0}\n"
    check(source.format("  # DEV406"), "DEV406")
    check(source.format(""), "DEV306")
