import torch
import torch.nn as nn
import torch.nn.functional as F


class SimpleHead(nn.Module):
    def __init__(self, task_type, backbone_channels, num_categories=2):
        super().__init__()
        self.task_type = task_type
        if task_type == "regress":
            num_outputs = 1
        else:
            num_outputs = num_categories
        self.layers = nn.Sequential(
            nn.Conv2d(backbone_channels, 16, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(16, num_outputs, 3, padding=1),
        )

    def forward(self, image_list, feature_list, targets=None):
        raw_outputs = self.layers(feature_list[0])
        loss = None
        if self.task_type == "segment":
            outputs = F.softmax(raw_outputs, dim=1)
            if targets is not None:
                task_targets = torch.stack([target for target in targets], dim=0).long()
                loss = F.cross_entropy(raw_outputs, task_targets, reduction="none")
                loss = loss.mean()
        elif self.task_type == "regress":
            outputs = raw_outputs[:, 0, :, :]
            if targets is not None:
                wanted = torch.stack([target for target in targets], dim=0).float()
                loss = torch.mean((outputs - wanted) ** 2)
        return outputs, loss


class SatlasModel(nn.Module):
    def __init__(self, num_channels=3, num_categories=4):
        super().__init__()
        self.backbone = nn.Conv2d(num_channels, 8, 3, padding=1)
        self.head = SimpleHead("segment", 8, num_categories)

    def forward(self, imgs, targets=None):
        features = [torch.relu(self.backbone(imgs))]
        return self.head(imgs, features, targets)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SatlasModel().to(device)
    imgs = torch.rand(2, 3, 16, 16).to(device)
    targets = [torch.randint(0, 4, (16, 16)).to(device) for _ in range(2)]
    outputs, loss = model(imgs, targets)
    loss.backward()
    print(outputs.shape, loss.item())


if __name__ == "__main__":
    main()
