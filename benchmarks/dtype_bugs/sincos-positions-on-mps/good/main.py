import torch
import torch.nn as nn


def make_sincos_pos_embed(embed_dim, pos, omega_0=100):
    assert embed_dim % 2 == 0
    omega = torch.arange(embed_dim // 2, dtype=torch.float32, device=pos.device)
    omega /= embed_dim / 2.0
    omega = 1.0 / omega_0**omega
    pos = pos.reshape(-1)
    out = torch.einsum("m,d->md", pos, omega.to(pos.dtype))
    return torch.cat([torch.sin(out), torch.cos(out)], dim=1).float()


def position_grid_to_embed(pos_grid, embed_dim):
    height, width, grid_dim = pos_grid.shape
    pos_flat = pos_grid.reshape(-1, grid_dim)
    emb_x = make_sincos_pos_embed(embed_dim // 2, pos_flat[:, 0])
    emb_y = make_sincos_pos_embed(embed_dim // 2, pos_flat[:, 1])
    return torch.cat([emb_x, emb_y], dim=-1).view(height, width, embed_dim)


def create_uv_grid(width, height, aspect_ratio, dtype, device):
    diag = (aspect_ratio**2 + 1.0) ** 0.5
    span_x, span_y = aspect_ratio / diag, 1.0 / diag
    x = torch.linspace(-span_x, span_x, steps=width, dtype=dtype, device=device)
    y = torch.linspace(-span_y, span_y, steps=height, dtype=dtype, device=device)
    return torch.stack(torch.meshgrid(x, y, indexing="xy"), dim=-1)


class DPTHead(nn.Module):
    def __init__(self, dim_in, out_channels=16):
        super().__init__()
        self.project = nn.Conv2d(dim_in, out_channels, 1)
        self.output = nn.Conv2d(out_channels, 1, 3, padding=1)

    def _apply_pos_embed(self, x, W, H, ratio=0.1):
        patch_w, patch_h = x.shape[-1], x.shape[-2]
        grid = create_uv_grid(patch_w, patch_h, W / H, dtype=x.dtype, device=x.device)
        embed = position_grid_to_embed(grid, x.shape[1]) * ratio
        return x + embed.permute(2, 0, 1)[None].expand(x.shape[0], -1, -1, -1)

    def forward(self, tokens, images):
        x = self._apply_pos_embed(self.project(tokens), images.shape[-1], images.shape[-2])
        return self.output(x)


def pick_device():
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def main():
    device = pick_device()
    head = DPTHead(8).to(device)
    with torch.no_grad():
        print(head(torch.randn(1, 8, 6, 8, device=device), torch.rand(1, 3, 48, 64, device=device)).shape)


if __name__ == "__main__":
    main()
