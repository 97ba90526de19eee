"""A recurrent network with a hidden state made on the device."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, hidden=5):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(3, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2)

    def initial(self, batch):
        return (
            torch.zeros(1, batch, self.hidden).cuda(),
            torch.zeros(1, batch, self.hidden, device="cuda"),
        )

    def forward(self, x):
        states, _ = self.lstm(x, self.initial(x.size(0)))
        return self.out(states)


torch.manual_seed(7)
tagger = Tagger().cuda()
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.5)
for _ in range(3):
    x = torch.randn(2, 4, 3).cuda()
    y = torch.randint(0, 2, (2, 4)).type(torch.cuda.LongTensor)
    loss = nn.functional.cross_entropy(tagger(x).reshape(-1, 2), y.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()))
