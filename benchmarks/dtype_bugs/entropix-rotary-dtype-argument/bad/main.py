import math
from typing import NamedTuple

import torch
import torch.nn.functional as F


class ModelParams(NamedTuple):
    n_layers: int = 2
    n_heads: int = 4
    head_dim: int = 8
    max_seq_len: int = 16


class LayerWeights(NamedTuple):
    wq: torch.Tensor
    wk: torch.Tensor
    wv: torch.Tensor
    wo: torch.Tensor


class KVCache:
    def __init__(self, params, bsz, device):
        shape = (params.n_layers, bsz, params.max_seq_len, params.n_heads, params.head_dim)
        self.k = torch.zeros(shape, dtype=torch.bfloat16, device=device)
        self.v = torch.zeros(shape, dtype=torch.bfloat16, device=device)

    def update(self, xk, xv, layer_idx, cur_pos):
        n = xk.shape[1]
        self.k[layer_idx, :, cur_pos : cur_pos + n] = xk.to(self.k.dtype)
        self.v[layer_idx, :, cur_pos : cur_pos + n] = xv.to(self.v.dtype)
        return self.k[layer_idx, :, : cur_pos + n], self.v[layer_idx, :, : cur_pos + n]


def precompute_freqs_cis(dim, end, device):
    freqs = 1.0 / (500000.0 ** (torch.arange(0, dim, 2, device=device)[: dim // 2].float() / dim))
    t = torch.arange(end, device=device).float()
    return torch.polar(torch.ones(end, dim // 2, device=device), torch.outer(t, freqs))


def apply_rotary_emb(xq, xk, freqs_cis, dtype: torch.dtype = torch.float32):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    xq_out = torch.view_as_real(xq_ * freqs_cis[None, :, None, :]).flatten(-2)
    xk_out = torch.view_as_real(xk_ * freqs_cis[None, :, None, :]).flatten(-2)
    return xq_out.to(dtype), xk_out.to(dtype)


def attention(x, weights, params, cur_pos, layer_idx, freqs_cis, kvcache):
    bsz = x.shape[0]
    xq = F.linear(x, weights.wq).reshape(bsz, -1, params.n_heads, params.head_dim)
    xk = F.linear(x, weights.wk).reshape(bsz, -1, params.n_heads, params.head_dim)
    xv = F.linear(x, weights.wv).reshape(bsz, -1, params.n_heads, params.head_dim)
    xq, xk = apply_rotary_emb(xq, xk, freqs_cis)
    keys, values = kvcache.update(xk, xv, layer_idx, cur_pos)
    xq = xq.permute(0, 2, 1, 3)
    keys = keys.permute(0, 2, 3, 1)
    values = values.permute(0, 2, 1, 3)
    scores = torch.matmul(xq, keys)
    probs = F.softmax(scores / math.sqrt(params.head_dim), dim=-1)
    output = torch.matmul(probs, values)
    return F.linear(output.transpose(1, 2).flatten(2), weights.wo)


def load_weights(params, device):
    dim = params.n_heads * params.head_dim
    layers = []
    for _ in range(params.n_layers):
        w = [torch.randn(dim, dim, dtype=torch.bfloat16, device=device) * 0.02 for _ in range(4)]
        layers.append(LayerWeights(*w))
    return layers


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    params = ModelParams()
    layers = load_weights(params, device)
    kvcache = KVCache(params, 1, device)
    freqs_cis = precompute_freqs_cis(params.head_dim, 5, device)
    h = torch.randn(1, 5, params.n_heads * params.head_dim, dtype=torch.bfloat16, device=device)
    for i, weights in enumerate(layers):
        h = h + attention(h, weights, params, 0, i, freqs_cis, kvcache)
    print(h.dtype)


if __name__ == "__main__":
    main()
