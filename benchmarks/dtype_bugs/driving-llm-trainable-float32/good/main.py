import torch
import torch.nn as nn


class LoraAttention(nn.Module):
    def __init__(self, dim, rank=4):
        super().__init__()
        self.v_proj = nn.Linear(dim, dim, bias=False)
        self.lora_A = nn.Linear(dim, rank, bias=False)
        self.lora_B = nn.Linear(rank, dim, bias=False)

    def forward(self, x):
        return self.v_proj(x) + self.lora_B(self.lora_A(x))


class LlamaModel(nn.Module):
    def __init__(self, vocab=32, dim=16, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(LoraAttention(dim) for _ in range(layers))
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, input_ids):
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            x = x + layer(x)
        return self.lm_head(x)


def load_model(base_model, use_lora, frozen):
    model = base_model.to(torch.bfloat16)
    if use_lora or frozen:
        for name, param in model.named_parameters():
            param.requires_grad = "lora_" in name
    return model


class Petr3D(nn.Module):
    def __init__(self, use_lora=True):
        super().__init__()
        self.lm_head = load_model(LlamaModel(), use_lora, frozen=True)

    def forward_train(self, input_ids):
        logits = self.lm_head(input_ids)
        return nn.functional.cross_entropy(logits.float().flatten(0, 1), input_ids.flatten())


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Petr3D().to(device)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    for _ in range(2):
        loss = model.forward_train(torch.randint(0, 32, (2, 6), device=device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
