import numpy as np
import torch
import torch.nn as nn


class EResGAT(nn.Module):
    def __init__(self, edge_feat, hidden, classes):
        super().__init__()
        self.edge_feat = nn.Parameter(edge_feat, requires_grad=False)
        self.layers = nn.Sequential(nn.Linear(edge_feat.shape[1], hidden), nn.ELU(), nn.Linear(hidden, classes))

    def forward(self, edges):
        unique, idx = np.unique(edges, return_inverse=True)
        out = self.layers(self.edge_feat[torch.as_tensor(unique)])
        return (unique, out, torch.as_tensor(idx)), None


def predict_(model, label, loss_fn, data_idx, batch_size=10):
    predict_output = []
    loss = 0.0
    for batch in range(len(data_idx) // batch_size):
        batch_edges = data_idx[batch_size * batch : batch_size * (batch + 1)]
        batch_output, _ = model(batch_edges)
        _, out, idx = batch_output
        batch_output = out.index_select(0, idx.to(out.device))
        batch_output = torch.argmax(batch_output, dim=-1)
        batch_loss = loss_fn(batch_output, label[batch_edges])
        predict_output.extend(batch_output.tolist())
        loss += batch_loss.item()
    return loss / (batch + 1), predict_output


def fit(edges=60, classes=3, batch_size=10):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    label = torch.randint(0, classes, (edges,)).to(device)
    model = EResGAT(torch.randn(edges, 8), 16, classes).to(device)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.003)
    order = np.random.permutation(edges)
    train, val = order[:40], order[40:]
    for batch in range(len(train) // batch_size):
        batch_edges = train[batch_size * batch : batch_size * (batch + 1)]
        (_, out, idx), _ = model(batch_edges)
        loss = loss_fn(out.index_select(0, idx.to(device)), label[batch_edges])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return predict_(model, label, loss_fn, val)


if __name__ == "__main__":
    print(fit())
