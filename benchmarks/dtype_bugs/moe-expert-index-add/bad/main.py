import torch
import torch.nn as nn


class Expert(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.GroupNorm(2, channels),
        )

    def forward(self, x):
        return self.conv(x)


class Router(nn.Module):
    def __init__(self, channels, num_experts, top_k):
        super().__init__()
        self.top_k = top_k
        self.gate = nn.Conv2d(channels, num_experts, 1)

    def forward(self, x):
        weights = self.gate(x).mean((2, 3)).softmax(-1)
        return weights.topk(self.top_k, dim=-1)


class SharedExpertGroup(nn.Module):
    def __init__(self, channels, num_experts=4, top_k=2):
        super().__init__()
        self.num_experts = num_experts
        self.router = Router(channels, num_experts, top_k)
        self.experts = nn.ModuleList(Expert(channels) for _ in range(num_experts))

    def forward(self, x):
        weights, indices = self.router(x)
        output = x.new_zeros(x.shape)
        for i, expert in enumerate(self.experts):
            batch_idx, k_idx = torch.where(indices == i)
            if batch_idx.numel() == 0:
                continue
            expert_out = expert(x[batch_idx])
            scaled = expert_out * weights[batch_idx, k_idx].view(-1, 1, 1, 1)
            output.index_add_(0, batch_idx, scaled)
        return output


class Detector(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, stride=2, padding=1)
        self.moe = SharedExpertGroup(channels)
        self.head = nn.Conv2d(channels, 5, 1)

    def forward(self, images):
        return self.head(self.moe(self.stem(images)))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Detector().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    amp = device.type == "cuda"
    for _ in range(2):
        images = torch.rand(4, 3, 16, 16).to(device)
        with torch.autocast(device.type, dtype=torch.float16, enabled=amp):
            preds = model(images)
            loss = preds.float().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
