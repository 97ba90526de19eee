"""A language model that makes positions and a mask in its forward pass."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, tokens=11, width=8, length=6):
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.positions = nn.Embedding(length, width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.head = nn.Linear(width, tokens)

    def forward(self, ids):
        length = ids.shape[1]
        positions = torch.arange(length).cuda()
        mask = torch.triu(torch.ones(length, length, device="cuda", dtype=torch.bool), diagonal=1)
        x = self.tokens(ids) + self.positions(positions)
        x, _ = self.attention(x, x, x, attn_mask=mask, need_weights=False)
        return self.head(x)


def run():
    torch.manual_seed(4)
    model = Model().to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(3):
        ids = torch.randint(0, 11, (2, 6)).to("cuda")
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(repr(loss.item()))


run()
