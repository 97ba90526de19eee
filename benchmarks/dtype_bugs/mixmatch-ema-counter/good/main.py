import torch
import torch.nn as nn
import torch.nn.functional as F


class WideBlock(nn.Module):
    def __init__(self, in_planes, out_planes):
        super().__init__()
        self.bn = nn.BatchNorm2d(in_planes)
        self.conv = nn.Conv2d(in_planes, out_planes, 3, padding=1, bias=False)

    def forward(self, x):
        return self.conv(F.leaky_relu(self.bn(x), 0.1))


class WideResNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.block1 = WideBlock(8, 16)
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        return self.fc(self.block1(self.conv1(x)).mean((2, 3)))


class WeightEMA:
    def __init__(self, model, ema_model, lr, alpha=0.999):
        self.model = model
        self.ema_model = ema_model
        self.alpha = alpha
        self.params = list(model.state_dict().values())
        self.ema_params = list(ema_model.state_dict().values())
        self.wd = 0.02 * lr
        for param, ema_param in zip(self.params, self.ema_params):
            param.data.copy_(ema_param.data)

    def step(self):
        one_minus_alpha = 1.0 - self.alpha
        for param, ema_param in zip(self.params, self.ema_params):
            if ema_param.dtype == torch.float32:
                ema_param.mul_(self.alpha)
                ema_param.add_(param * one_minus_alpha)
                param.mul_(1 - self.wd)


def create_model(device, ema=False):
    model = WideResNet(num_classes=10).to(device)
    if ema:
        for param in model.parameters():
            param.detach_()
    return model


def train(model, optimizer, ema_optimizer, device):
    for _ in range(2):
        inputs = torch.rand(4, 3, 8, 8).to(device)
        targets = torch.randint(0, 10, (4,)).to(device)
        loss = F.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema_optimizer.step()
    return loss.item()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = create_model(device)
    ema_model = create_model(device, ema=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    print(train(model, optimizer, WeightEMA(model, ema_model, lr=0.002), device))


if __name__ == "__main__":
    main()
