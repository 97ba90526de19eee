"""A function with its own gradient, decorated for mixed precision."""

import torch
from torch.cuda.amp import custom_bwd, custom_fwd


class Cube(torch.autograd.Function):
    @staticmethod
    @custom_fwd
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @custom_bwd
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


torch.manual_seed(10)
weight = torch.randn(4).cuda().requires_grad_()
optimizer = torch.optim.SGD([weight], lr=0.01)
for _ in range(3):
    loss = Cube.apply(weight * torch.rand(4).to(device="cuda")).abs().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()))
