import torch
import torch.nn as nn
import torch.nn.functional as F


def masked_attention(q, k, v, mask=None):
    x = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return x.transpose(1, 2).flatten(2)


class DoubleStreamBlock(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.img_qkv = nn.Linear(hidden, 3 * hidden)
        self.txt_qkv = nn.Linear(hidden, 3 * hidden)

    def split(self, qkv):
        B, L, _ = qkv.shape
        return qkv.view(B, L, 3, self.heads, -1).permute(2, 0, 3, 1, 4)

    def forward(self, img, txt, attn_mask):
        img_q, img_k, img_v = self.split(self.img_qkv(img))
        txt_q, txt_k, txt_v = self.split(self.txt_qkv(txt))
        q = torch.cat((txt_q, img_q), dim=2)
        k = torch.cat((txt_k, img_k), dim=2)
        v = torch.cat((txt_v, img_v), dim=2)
        attn = masked_attention(q, k, v, attn_mask)
        return attn[:, txt.shape[1] :], attn[:, : txt.shape[1]]


class RegionAttention:
    """Gives every region of the picture its own prompt."""

    def __init__(self, regions, device):
        self.regions = regions
        self.device = device

    def build_mask(self, n_txt, n_img):
        total = n_txt + n_img
        mask = torch.zeros(total, total, device=self.device, dtype=torch.bfloat16)
        per_region = n_img // len(self.regions)
        for i, weight in enumerate(self.regions):
            start = n_txt + i * per_region
            mask[start : start + per_region, :n_txt] = weight
        return mask

    def run(self, block, img, txt):
        mask = self.build_mask(txt.shape[1], img.shape[1])
        return block(img, txt, mask)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.float16
    block = DoubleStreamBlock(16, 2).to(device, dtype)
    img = torch.randn(1, 12, 16, device=device, dtype=dtype)
    txt = torch.randn(1, 4, 16, device=device, dtype=dtype)
    with torch.no_grad():
        img, txt = RegionAttention([0.5, -1.0, 0.0], device).run(block, img, txt)
    print(img.shape, txt.shape)


if __name__ == "__main__":
    main()
