import torch
import torch.nn as nn
import torch.nn.functional as F


class DeformableAttention(nn.Module):
    def __init__(self, d_model, n_points):
        super().__init__()
        self.n_points = n_points
        self.value_proj = nn.Linear(d_model, d_model)
        self.sampling_offsets = nn.Linear(d_model, n_points * 2)
        self.attention_weights = nn.Linear(d_model, n_points)

    def forward(self, hidden_states, reference_points, spatial_shape):
        batch, queries, channels = hidden_states.shape
        height, width = spatial_shape
        value = self.value_proj(hidden_states).transpose(1, 2).reshape(batch, channels, height, width)
        offsets = self.sampling_offsets(hidden_states).view(batch, queries, self.n_points, 2)
        weights = self.attention_weights(hidden_states).softmax(-1)
        locations = reference_points[:, :, None, :] + offsets / max(height, width)
        sampled = F.grid_sample(value, 2 * locations - 1, mode="bilinear", padding_mode="zeros", align_corners=False)
        return (sampled * weights[:, None]).sum(-1).transpose(1, 2)


class GroundingDinoEncoder(nn.Module):
    def __init__(self, d_model, layers):
        super().__init__()
        self.layers = nn.ModuleList(DeformableAttention(d_model, 4) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)

    @staticmethod
    def get_reference_points(spatial_shape, valid_ratios, device):
        height, width = spatial_shape
        ref_y, ref_x = torch.meshgrid(
            torch.linspace(0.5, height - 0.5, height, dtype=torch.float32, device=device),
            torch.linspace(0.5, width - 0.5, width, dtype=torch.float32, device=device),
            indexing="ij",
        )
        ref_y = ref_y.reshape(-1)[None] / (valid_ratios[:, None, 1] * height)
        ref_x = ref_x.reshape(-1)[None] / (valid_ratios[:, None, 0] * width)
        return torch.stack((ref_x, ref_y), -1)

    def forward(self, hidden_states, spatial_shape, valid_ratios):
        reference_points = self.get_reference_points(spatial_shape, valid_ratios, hidden_states.device)
        for layer in self.layers:
            hidden_states = self.norm(hidden_states + layer(hidden_states, reference_points, spatial_shape))
        return hidden_states


class GroundingDinoModel(nn.Module):
    def __init__(self, d_model=16):
        super().__init__()
        self.backbone = nn.Conv2d(3, d_model, 8, 8)
        self.encoder = GroundingDinoEncoder(d_model, 2)

    def get_valid_ratio(self, mask):
        _, height, width = mask.shape
        valid_height = torch.sum(mask[:, :, 0], 1)
        valid_width = torch.sum(mask[:, 0, :], 1)
        return torch.stack([valid_width.float() / width, valid_height.float() / height], -1)

    def forward(self, pixel_values):
        features = self.backbone(pixel_values)
        batch, _, height, width = features.shape
        mask = torch.ones((batch, height, width), dtype=torch.long, device=features.device)
        source = features.flatten(2).transpose(1, 2)
        return self.encoder(source, (height, width), self.get_valid_ratio(mask))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = GroundingDinoModel().to(device=device, dtype=torch.bfloat16).eval()
    with torch.inference_mode():
        out = model(torch.randn(2, 3, 32, 32, device=device, dtype=torch.bfloat16))
    print(out.shape)


if __name__ == "__main__":
    main()
