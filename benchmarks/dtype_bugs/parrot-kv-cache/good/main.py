import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    block_size: int = 16
    vocab_size: int = 64
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.n_head = config.n_head
        self.head_size = config.n_embd // config.n_head

    def forward(self, x, input_pos=None, kv_cache=None):
        B, T, C = x.size()
        qkv = self.attn(x).view(B, T, self.n_head, 3 * self.head_size).transpose(1, 2)
        q, k, v = qkv.split(self.head_size, dim=-1)
        if kv_cache is not None:
            cache_k, cache_v = kv_cache
            cache_k = cache_k.type(torch.bfloat16)
            cache_v = cache_v.type(torch.bfloat16)
            k = cache_k.index_copy(2, input_pos, k)
            v = cache_v.index_copy(2, input_pos, v)
            kv_cache = k, v
        att = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_size)
        y = torch.softmax(att, dim=-1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C)), kv_cache


class Parrot(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.h = nn.ModuleList(CausalSelfAttention(config) for _ in range(config.n_layer))
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.kv_caches = []

    def build_kv_caches(self, idx, max_seq_length):
        B = idx.size(0)
        head_size = self.config.n_embd // self.config.n_head
        shape = (B, self.config.n_head, max_seq_length, head_size)
        return [
            (torch.zeros(shape, device=idx.device), torch.zeros(shape, device=idx.device))
            for _ in range(self.config.n_layer)
        ]

    def forward(self, idx, max_seq_length, input_pos):
        x = self.wte(idx)
        if not self.kv_caches:
            self.kv_caches = self.build_kv_caches(idx, max_seq_length)
        for i, block in enumerate(self.h):
            h, self.kv_caches[i] = block(x, input_pos, self.kv_caches[i])
            x = x + h
        return self.lm_head(x)


@torch.no_grad()
def generate(model, idx, max_new_tokens):
    T = idx.size(1)
    total = T + max_new_tokens
    input_pos = torch.arange(0, T, device=idx.device)
    for _ in range(max_new_tokens):
        logits = model(idx[:, input_pos], total, input_pos)
        idx_next = logits[:, -1].argmax(-1, keepdim=True)
        idx = torch.cat((idx, idx_next), dim=1)
        input_pos = input_pos[-1:] + 1
    return idx


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Parrot(Config()).to(device=device, dtype=torch.bfloat16).eval()
    prompt = torch.randint(0, 64, (1, 4), device=device)
    print(generate(model, prompt, 3))


if __name__ == "__main__":
    main()
