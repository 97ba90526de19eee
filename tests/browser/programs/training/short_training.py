"""Trains a model on the accelerator, with two bugs at the end and one that is caught."""

import torch
from torch import nn

model = nn.Linear(4, 4).to("cuda")
model.mask_of_the_padded_positions_in_a_plain_attribute = torch.ones(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    batch = torch.randn(8, 4)
    batch = batch.to("cuda")
    optimizer.zero_grad()
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())


def averages_on_the_host_of_a_function_with_a_long_name():
    return torch.ones(3) + torch.zeros(3)


averages_on_the_host_of_a_function_with_a_long_name()
weight_of_the_last_layer = torch.zeros(4)
try:
    print(batch * weight_of_the_last_layer)
except RuntimeError:
    pass
batch.numpy()
