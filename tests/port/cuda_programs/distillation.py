"""A student that learns from a teacher; both name their device as a default of the constructor."""

import torch
import torch.nn.functional as F
from torch import nn


class Learner:
    def __init__(self, width, device="cuda"):
        self.device = device
        self.net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3)).to(device)

    def __call__(self, x):
        return self.net(x.to(self.device))


class Trainer:
    temperature = 2.0

    def __init__(self):
        torch.manual_seed(9)
        self.teacher, self.student = Learner(16), Learner(4)
        self.optimizer = torch.optim.SGD(self.student.net.parameters(), lr=0.1)
        self.weight = torch.tensor(self.temperature**2).cuda()

    def step(self, x):
        with torch.no_grad():
            target = F.softmax(self.teacher(x) / self.temperature, dim=1)
        guess = F.log_softmax(self.student(x) / self.temperature, dim=1)
        loss = F.kl_div(guess, target, reduction="batchmean") * self.weight
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


trainer = Trainer()
for _ in range(3):
    print(repr(trainer.step(torch.randn(5, 4))))
