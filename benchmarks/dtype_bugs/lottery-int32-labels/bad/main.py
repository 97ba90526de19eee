import abc

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class ImageDataset(abc.ABC, Dataset):
    def __init__(self, examples, labels, image_transforms=None):
        self._examples = examples
        self._labels = labels
        self._image_transforms = image_transforms or []

    def __len__(self):
        return self._labels.size

    @staticmethod
    @abc.abstractmethod
    def num_classes(): ...

    def __getitem__(self, index):
        example = torch.from_numpy(self._examples[index])
        for transform in self._image_transforms:
            example = transform(example)
        return example, self._labels[index]


class Digits(ImageDataset):
    @staticmethod
    def num_classes():
        return 10

    @staticmethod
    def get_train_set():
        rng = np.random.RandomState(0)
        examples = rng.rand(32, 1, 8, 8).astype(np.float32)
        labels = rng.randint(0, Digits.num_classes(), size=32).astype(np.int32)
        return Digits(examples, labels, [lambda x: (x - 0.5) / 0.5])


class Model(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.fc = nn.Linear(64, outputs)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.fc(x.flatten(1))

    @property
    def loss_criterion(self):
        return self.criterion


def train(model, loader, device):
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for examples, labels in loader:
        examples = examples.to(device=device)
        labels = labels.to(device=device)
        optimizer.zero_grad()
        loss = model.loss_criterion(model(examples), labels)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(Digits.get_train_set(), batch_size=8, shuffle=True)
    print(train(Model(Digits.num_classes()), loader, device))


if __name__ == "__main__":
    main()
