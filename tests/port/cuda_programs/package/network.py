"""The network of the program."""

import settings
import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(settings.WIDTH, settings.WIDTH)

    def forward(self, x):
        return self.layer(x) * torch.linspace(0, 1, settings.WIDTH).cuda()
