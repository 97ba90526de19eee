import numpy as np
import torch
import torch.nn as nn

import tt


class Batches:
    def __init__(self, n, dim, batch_size):
        self.x = np.random.rand(n, dim).astype(np.float32)
        self.y = self.x.sum(axis=1, keepdims=True)
        self.batch_size = batch_size

    def __iter__(self):
        for start in range(0, len(self.x), self.batch_size):
            stop = start + self.batch_size
            yield torch.from_numpy(self.x[start:stop]), torch.from_numpy(self.y[start:stop])


class Regressor(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Regressor(5).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in Batches(32, 5, 8):
        x, y = x.to(device), y.to(device)
        pred = model(x)
        loss = nn.functional.mse_loss(pred, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    compressed = tt.Tensor.random([4, 4, 4], rank=2)
    print(loss.item(), compressed.numel())


if __name__ == "__main__":
    main()
