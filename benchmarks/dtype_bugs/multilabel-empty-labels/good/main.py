from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Annotation:
    label: int


@dataclass
class DatasetItem:
    seed: int
    annotations: list = field(default_factory=list)


class OTXMultilabelClsDataset:
    def __init__(self, items, num_classes):
        self.items = items
        self.num_classes = num_classes
        self.ignored_labels = []

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        item = self.items[index]
        image = torch.rand(3, 8, 8, generator=torch.Generator().manual_seed(item.seed))
        labels = torch.as_tensor([annotation.label for annotation in item.annotations])
        return image, self._convert_to_onehot(labels)

    def _convert_to_onehot(self, labels):
        onehot = F.one_hot(labels.long(), self.num_classes)
        onehot = onehot.sum(dim=0).clamp(max=1)
        for label in self.ignored_labels:
            onehot[label] = -1
        return onehot


def collate(samples):
    images, labels = zip(*samples)
    return torch.stack(images), torch.stack(labels)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    items = [
        DatasetItem(0, [Annotation(0), Annotation(2)]),
        DatasetItem(1, []),
        DatasetItem(2, [Annotation(1)]),
    ]
    dataset = OTXMultilabelClsDataset(items, 3)
    images, labels = collate([dataset[i] for i in range(len(dataset))])
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 3)).to(device)
    loss = F.binary_cross_entropy_with_logits(model(images.to(device)), labels.to(device).float())
    loss.backward()
    print(loss.item())


if __name__ == "__main__":
    main()
