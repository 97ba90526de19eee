import torch
import torch.nn as nn
import torch.nn.functional as F


class LearnedFeatureUnification(nn.Module):
    def __init__(self, out_channels=8, kernel_size=3):
        super().__init__()
        self.kernel_size = kernel_size
        self.out_channels = out_channels
        self.basis = nn.Parameter(torch.randn(out_channels, 1, kernel_size, kernel_size) * 0.1)

    def normalize(self, x):
        b, c, h, w = x.shape
        pad = self.kernel_size // 2
        counts = F.conv2d(
            torch.ones(1, 1, h, w, device=x.device, dtype=x.dtype),
            torch.ones(1, 1, self.kernel_size, self.kernel_size, device=x.device),
            padding=pad,
        )
        weight = self.basis.to(x.dtype)
        out = F.conv2d(x.reshape(b * c, 1, h, w), weight, padding=pad) / counts
        return out.view(b, c, self.out_channels, h, w)

    def forward(self, features):
        attention = F.softmax(self.normalize(features), dim=2)
        return attention.mean(dim=1)


class AnyUp(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.image_encoder = nn.Sequential(nn.Conv2d(3, dim, 3, padding=1), nn.SiLU())
        self.key_features = LearnedFeatureUnification(dim)

    def forward(self, image, features):
        keys = self.key_features(features)
        queries = self.image_encoder(image)
        keys = F.interpolate(keys, size=queries.shape[-2:], mode="nearest")
        weights = (queries * keys).sum(1, keepdim=True).sigmoid()
        return F.interpolate(features, size=queries.shape[-2:], mode="nearest") * weights


@torch.no_grad()
def upsample(model, image, features, dtype):
    device = next(model.parameters()).device
    return model(image.to(device, dtype), features.to(device, dtype))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = AnyUp().to(device).to(torch.bfloat16).eval()
    print(upsample(model, torch.rand(1, 3, 16, 16), torch.randn(1, 6, 4, 4), torch.bfloat16).shape)


if __name__ == "__main__":
    main()
