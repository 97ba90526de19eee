"""A generator and a discriminator, with labels of the old tensor types."""

import torch
from torch import nn, optim

torch.manual_seed(5)
generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid()).cuda()
criterion = nn.BCELoss().cuda()
for_generator = optim.Adam(generator.parameters(), lr=0.01)
for_discriminator = optim.Adam(discriminator.parameters(), lr=0.01)

for _ in range(4):
    real = torch.randn(6, 2).type(torch.cuda.FloatTensor)
    noise = torch.randn(6, 4).cuda()
    valid = torch.cuda.FloatTensor(6, 1).fill_(1.0)
    fake = torch.cuda.FloatTensor(6, 1).fill_(0.0)

    for_generator.zero_grad()
    made = generator(noise)
    loss_g = criterion(discriminator(made), valid)
    loss_g.backward()
    for_generator.step()

    for_discriminator.zero_grad()
    loss_d = (criterion(discriminator(real), valid) + criterion(discriminator(made.detach()), fake)) / 2
    loss_d.backward()
    for_discriminator.step()
    print(repr(loss_g.item()), repr(loss_d.item()))
