import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class HeteroLinear(nn.Module):
    def __init__(self, in_channels, out_channels, num_types):
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.num_types = num_types
        self.weight = nn.Parameter(torch.empty(num_types, in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(num_types, out_channels))
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.in_channels)
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.zeros_(self.bias)

    def forward(self, x, type_vec):
        out = x.new_empty(x.size(0), self.out_channels)
        for i in range(self.num_types):
            mask = type_vec == i
            subset_out = F.linear(x[mask], self.weight[i].T)
            out[mask] = subset_out.to(out.dtype)
        return out + self.bias[type_vec]


class NodeClassifier(nn.Module):
    def __init__(self, in_channels, hidden, classes, num_types):
        super().__init__()
        self.lin1 = HeteroLinear(in_channels, hidden, num_types)
        self.lin2 = nn.Linear(hidden, classes)

    def forward(self, x, type_vec):
        return self.lin2(self.lin1(x, type_vec).relu())


def train(model, x, type_vec, y, optimizer, device):
    optimizer.zero_grad()
    with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
        loss = F.cross_entropy(model(x, type_vec), y)
    loss.backward()
    optimizer.step()
    return float(loss)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = NodeClassifier(16, 32, 4, num_types=3).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(12, 16, device=device)
    type_vec = torch.arange(12, device=device) % 3
    y = torch.randint(0, 4, (12,), device=device)
    for epoch in range(2):
        print(epoch, train(model, x, type_vec, y, optimizer, device))


if __name__ == "__main__":
    main()
