"""Host tensors in collectives of an NCCL group."""

from __future__ import annotations

import pytest

from .programs import check

PRELUDE = "import torch.distributed as dist\n"
BAD = {
    "the collectives": """
dist.init_process_group("nccl")
x, y = torch.zeros(3), torch.zeros(3, device="cuda")
dist.all_reduce(x)  # DEV116
dist.all_reduce(x, op=dist.ReduceOp.SUM)  # DEV116
dist.broadcast(torch.ones(3), src=0)  # DEV116
dist.all_gather([torch.zeros(3, device="cuda") for _ in range(2)], x)  # DEV116
dist.all_gather([torch.zeros(3) for _ in range(2)], y)  # DEV116
dist.all_gather_into_tensor(torch.zeros(6), y)  # DEV116
dist.reduce(x, 0)  # DEV116
dist.send(x, dst=1)  # DEV116
dist.recv(x, src=1)  # DEV116
""",
    "in a function": """
def average(value):
    total = torch.tensor(value)
    dist.all_reduce(total)  # DEV116
    return total / dist.get_world_size()

def main():
    dist.init_process_group(backend="nccl", init_method="env://")
    print(average(1.0))

main()
""",
    "a process of several": """
import torch.multiprocessing as mp

def run(rank, world_size):
    dist.init_process_group(dist.Backend.NCCL, rank=rank, world_size=world_size)
    torch.cuda.set_device(rank)
    correct = torch.tensor([0.0, 0.0])
    dist.all_reduce(correct)  # DEV116

if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
""",
    "brought to the host too early": """
def train(model, loss):
    dist.init_process_group("NCCL")
    loss = nn.Linear(3, 1).cuda()(torch.rand(2, 3, device="cuda")).mean()
    mean = loss.detach().cpu()
    dist.all_reduce(mean, group=None)  # DEV116
""",
    "where there is NCCL": """
backend = "nccl" if torch.cuda.is_available() else "gloo"
dist.init_process_group(backend)
x = torch.zeros(3)
dist.all_reduce(x)  # DEV116
""",
}
GOOD = {
    "on the accelerator": """
dist.init_process_group("nccl")
x = torch.zeros(3, device="cuda")
dist.all_reduce(x)
dist.broadcast(torch.ones(3).cuda(), src=0)
dist.all_gather([torch.zeros_like(x) for _ in range(2)], x)
""",
    "gloo": """
dist.init_process_group("gloo")
dist.all_reduce(torch.zeros(3))
""",
    "both backends": """
dist.init_process_group("cpu:gloo,cuda:nccl")
dist.all_reduce(torch.zeros(3))
""",
    "chosen by torch": """
dist.init_process_group()
dist.all_reduce(torch.zeros(3))
""",
    "an unknown backend": """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--backend")
args = parser.parse_args()
dist.init_process_group(args.backend)
dist.all_reduce(torch.zeros(3))
""",
    "nobody knows the group": """
def average(x):
    total = torch.tensor(x)
    dist.all_reduce(total)
    return total
""",
    "another group": """
dist.init_process_group("nccl")
group = dist.new_group(backend="gloo")
dist.all_reduce(torch.zeros(3), group=group)
dist.broadcast(torch.zeros(3), 0, group)
""",
    "the device follows the backend": """
cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
device = "cuda" if cuda else "cpu"
x = torch.zeros(3, device=device)
dist.all_reduce(x)
y = torch.zeros(3)
if dist.get_backend() == "nccl":
    y = y.cuda()
dist.all_reduce(y)
""",
    "the group is another one later": """
dist.init_process_group("nccl")
dist.destroy_process_group()
dist.init_process_group("gloo")
dist.all_reduce(torch.zeros(3))
""",
    "objects": """
dist.init_process_group("nccl")
dist.all_gather_object([None, None], torch.zeros(3))
dist.barrier()
""",
    "a default device": """
dist.init_process_group("nccl")
torch.set_default_device("cuda")
dist.all_reduce(torch.zeros(3))
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(PRELUDE + source, "DEV116")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(PRELUDE + source, "DEV116")


def test_the_message_names_the_backend() -> None:
    (found,) = check(PRELUDE + "dist.init_process_group('nccl')\ndist.all_reduce(torch.zeros(3))  # DEV116\n", "DEV116")
    assert found.message == (
        "`torch.zeros(3)` is on the host, but `all_reduce` uses NCCL, which takes tensors on accelerators only"
    )
