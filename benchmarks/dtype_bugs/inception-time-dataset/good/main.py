import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class SeriesDataset(Dataset):
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def load_series(n, length):
    rng = np.random.RandomState(0)
    t = np.linspace(0, 1, length)
    phase = rng.uniform(0, 6.28, size=(n, 1))
    series = np.sin(2 * np.pi * 3 * t[None] + phase)
    series = (series - series.mean(axis=1, keepdims=True)) / series.std(axis=1, keepdims=True)
    labels = (phase[:, 0] > 3.14).astype(np.int64)
    return series[:, None, :], labels


class Inception(nn.Module):
    def __init__(self, in_channels, n_filters, bottleneck_channels=8):
        super().__init__()
        self.bottleneck = nn.Conv1d(in_channels, bottleneck_channels, kernel_size=1, bias=False)
        self.convs = nn.ModuleList(
            nn.Conv1d(bottleneck_channels, n_filters, k, padding=k // 2, bias=False) for k in (5, 11, 23)
        )
        self.batch_norm = nn.BatchNorm1d(3 * n_filters)

    def forward(self, X):
        X = X.float()
        X_bottleneck = self.bottleneck(X)
        return torch.relu(self.batch_norm(torch.cat([conv(X_bottleneck) for conv in self.convs], dim=1)))


class InceptionTime(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.blocks = nn.Sequential(Inception(1, 4), Inception(12, 4))
        self.fc = nn.Linear(12, n_classes)

    def forward(self, X):
        return self.fc(self.blocks(X).mean(-1))


def train(model, loader, device, epochs=1):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(epochs):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
    return loss.item()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(SeriesDataset(*load_series(16, 64)), batch_size=8, shuffle=True)
    print(train(InceptionTime(2).to(device), loader, device))


if __name__ == "__main__":
    main()
