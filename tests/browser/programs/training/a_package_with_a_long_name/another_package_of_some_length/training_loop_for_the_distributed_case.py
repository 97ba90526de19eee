import torch
from torch import nn


class AttentionWithVeryLongDescriptiveName(nn.Module):
    def __init__(self, number_of_hidden_dimensions=64):
        super().__init__()
        self.relative_position_bias_table_without_registration = torch.zeros(number_of_hidden_dimensions, number_of_hidden_dimensions)
        self.projection = nn.Linear(number_of_hidden_dimensions, number_of_hidden_dimensions)

    def forward(self, incoming_hidden_states):
        return self.projection(incoming_hidden_states) + self.relative_position_bias_table_without_registration


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = AttentionWithVeryLongDescriptiveName().to(device)
    batch = torch.randn(64, 64)
    batch.to(device)
    losses = []
    for step in range(10):
        loss = model(batch).sum()
        losses.append(loss.item())
    half = torch.randn(4, 4, device="cuda", dtype=torch.float16)
    full = torch.randn(4, 4, device="cuda")
    print(half @ full, (half @ half).cpu().numpy())
    pinned = torch.zeros(4, 4).pin_memory()
    x = pinned.cuda()
    print((x + pinned).numpy())


if __name__ == "__main__":
    main()
