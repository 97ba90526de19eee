import torch
import torch.nn as nn


class LlamaRMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(self.weight.dtype)


class MistralLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.input_layernorm = LlamaRMSNorm(dim)
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, hidden_states):
        x = self.input_layernorm(hidden_states)
        return hidden_states + self.o_proj(self.q_proj(x))


class MistralForCausalLM(nn.Module):
    def __init__(self, vocab=32, dim=16, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(MistralLayer(dim) for _ in range(layers))
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return self.lm_head(hidden_states)


def load_model(cfg, device):
    model = MistralForCausalLM().to(device, torch.bfloat16 if cfg["bf16"] else torch.float32)
    for name, module in model.named_modules():
        if "norm" in name:
            module.to(torch.float32)
    return model


def train(cfg):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = load_model(cfg, device)
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg["learning_rate"])
    for _ in range(cfg["max_steps"]):
        input_ids = torch.randint(0, 32, (2, 8), device=device)
        logits = model(input_ids)
        loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), input_ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    print(train({"bf16": True, "learning_rate": 0.1, "max_steps": 2}))
