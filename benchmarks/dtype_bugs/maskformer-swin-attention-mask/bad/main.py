import torch
import torch.nn as nn


def window_partition(x, size):
    b, h, w, c = x.shape
    x = x.view(b, h // size, size, w // size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size, c)


class SwinSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, hidden_states, attention_mask=None):
        query, key, value = (self.split(f(hidden_states)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(-1, -2)) / query.shape[-1] ** 0.5
        if attention_mask is not None:
            shape = attention_mask.shape[0]
            scores = scores.view(-1, shape, self.heads, *scores.shape[-2:]) + attention_mask.unsqueeze(1).unsqueeze(0)
            scores = scores.view(-1, self.heads, *scores.shape[-2:])
        attention_probs = nn.functional.softmax(scores, dim=-1)
        context = torch.matmul(attention_probs, value)
        return context.transpose(1, 2).flatten(2)


class SwinLayer(nn.Module):
    def __init__(self, dim, heads, window_size, shift_size):
        super().__init__()
        self.window_size, self.shift_size = window_size, shift_size
        self.layernorm = nn.LayerNorm(dim)
        self.attention = SwinSelfAttention(dim, heads)

    def get_attn_mask(self, input_resolution):
        if self.shift_size <= 0:
            return None
        height, width = input_resolution
        img_mask = torch.zeros((1, height, width, 1))
        slices = (
            slice(0, -self.window_size),
            slice(-self.window_size, -self.shift_size),
            slice(-self.shift_size, None),
        )
        count = 0
        for height_slice in slices:
            for width_slice in slices:
                img_mask[:, height_slice, width_slice, :] = count
                count += 1
        windows = window_partition(img_mask, self.window_size).squeeze(-1)
        attn_mask = windows.unsqueeze(1) - windows.unsqueeze(2)
        return attn_mask.masked_fill(attn_mask != 0, -100.0).masked_fill(attn_mask == 0, 0.0)

    def forward(self, hidden_states, input_dimensions):
        height, width = input_dimensions
        batch, _, channels = hidden_states.shape
        hidden_states = self.layernorm(hidden_states).view(batch, height, width, channels)
        shifted = torch.roll(hidden_states, shifts=(-self.shift_size, -self.shift_size), dims=(1, 2))
        windows = window_partition(shifted, self.window_size)
        attn_mask = self.get_attn_mask((height, width))
        if attn_mask is not None:
            attn_mask = attn_mask.to(windows.device)
        return self.attention(windows, attn_mask)


class MaskFormerSwinEncoder(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 4, 4)
        self.layers = nn.ModuleList(SwinLayer(dim, 2, 4, 0 if i % 2 == 0 else 2) for i in range(2))

    def forward(self, pixel_values):
        embedded = self.patch_embed(pixel_values)
        height, width = embedded.shape[-2:]
        hidden_states = embedded.flatten(2).transpose(1, 2)
        for layer in self.layers:
            windows = layer(hidden_states, (height, width))
            hidden_states = hidden_states + windows.reshape(hidden_states.shape)
        return hidden_states


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MaskFormerSwinEncoder().to(device).to(torch.bfloat16).eval()
    pixels = torch.randn(1, 3, 32, 32, device=device).to(torch.bfloat16)
    with torch.no_grad():
        print(model(pixels).shape)


if __name__ == "__main__":
    main()
