from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class RavenConfig:
    vocab_size: int = 64
    n_embd: int = 16
    n_heads: int = 2
    mean_recurrence: int = 2


class Tokenizer:
    def __call__(self, texts):
        ids = [[ord(c) % 64 for c in text] for text in texts]
        longest = max(len(i) for i in ids)
        input_ids = torch.tensor([[0] * (longest - len(i)) + i for i in ids])
        mask = torch.tensor([[0] * (longest - len(i)) + [1] * len(i) for i in ids])
        return {"input_ids": input_ids, "attention_mask": mask}


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_heads = config.n_heads
        self.Wqkv = nn.Linear(config.n_embd, 3 * config.n_embd, bias=False)
        self.proj = nn.Linear(config.n_embd, config.n_embd, bias=False)

    def forward(self, x, mask=None):
        B, S, E = x.shape
        q, k, v = self.Wqkv(x).view(B, S, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return self.proj(y.transpose(1, 2).reshape(B, S, E))


class RavenForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.core = CausalSelfAttention(config)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def forward(self, input_ids, attention_mask=None):
        x = self.wte(input_ids)
        mask = None
        if attention_mask is not None:
            mask = attention_mask[:, None, None, :]
        for _ in range(self.config.mean_recurrence):
            x = x + self.core(x, mask)
        return self.lm_head(x)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = RavenForCausalLM(RavenConfig()).to(device).eval()
    batch = {k: v.to(device) for k, v in Tokenizer()(["what is", "the capital of"]).items()}
    with torch.no_grad():
        print(model(**batch).shape)


if __name__ == "__main__":
    main()
