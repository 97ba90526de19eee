import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F


@contextlib.contextmanager
def set_default_dtype(dtype):
    old = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(old)


class KVCache(nn.Module):
    def __init__(self, max_batch_size, max_seq_len, n_kv_heads, head_dim):
        super().__init__()
        cache_shape = (max_batch_size, n_kv_heads, max_seq_len, head_dim)
        self.register_buffer("k_cache", torch.zeros(cache_shape), persistent=False)
        self.register_buffer("v_cache", torch.zeros(cache_shape), persistent=False)

    def update(self, input_pos, k_val, v_val):
        bsz = k_val.shape[0]
        self.k_cache[:bsz, :, input_pos] = k_val
        self.v_cache[:bsz, :, input_pos] = v_val
        return self.k_cache[:bsz], self.v_cache[:bsz]


class CausalSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, kv_cache=None):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.qkv_proj = nn.Linear(embed_dim, 3 * embed_dim, bias=False)
        self.output_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.kv_cache = kv_cache

    def forward(self, x, input_pos):
        bsz, seq_len, _ = x.shape
        qkv = self.qkv_proj(x).view(bsz, seq_len, 3, self.num_heads, self.head_dim)
        q, k, v = (t.squeeze(2).transpose(1, 2) for t in qkv.split(1, dim=2))
        if self.kv_cache is not None:
            k, v = self.kv_cache.update(input_pos, k, v)
        out = F.scaled_dot_product_attention(q, k, v)
        return self.output_proj(out.transpose(1, 2).reshape(bsz, seq_len, -1))


def llama(embed_dim=16, num_heads=2, max_batch_size=None, max_seq_len=16):
    layers = []
    for _ in range(2):
        cache = None
        if max_batch_size is not None:
            cache = KVCache(max_batch_size, max_seq_len, num_heads, embed_dim // num_heads)
        layers.append(CausalSelfAttention(embed_dim, num_heads, cache))
    return nn.ModuleList(layers)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with set_default_dtype(torch.bfloat16), device:
        decoder = llama(max_batch_size=2)
        x = torch.randn(2, 4, 16)
        input_pos = torch.arange(4)
    with torch.no_grad():
        for layer in decoder:
            x = x + layer(x, input_pos)
    print(x.dtype)


if __name__ == "__main__":
    main()
