import argparse

import numpy as np
import torch
import torch.nn as nn

DTYPES = {"float32": torch.float32, "float64": torch.float64}


class AtomicEnergiesBlock(nn.Module):
    def __init__(self, atomic_energies):
        super().__init__()
        self.register_buffer("atomic_energies", torch.tensor(atomic_energies, dtype=torch.float64))

    def forward(self, x):
        return torch.matmul(x, self.atomic_energies)


class RadialBasis(nn.Module):
    def __init__(self, r_max, num_basis):
        super().__init__()
        self.register_buffer("r_max", torch.tensor(r_max, dtype=torch.get_default_dtype()))
        self.register_buffer("n", torch.linspace(1, num_basis, num_basis))

    def forward(self, lengths):
        return torch.sin(self.n * torch.pi * lengths[:, None] / self.r_max) / lengths[:, None]


class MACE(nn.Module):
    def __init__(self, atomic_energies, r_max=5.0, num_basis=6):
        super().__init__()
        self.atomic_energies_fn = AtomicEnergiesBlock(atomic_energies)
        self.radial = RadialBasis(r_max, num_basis)
        self.readout = nn.Sequential(nn.Linear(num_basis, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, data):
        node_e0 = self.atomic_energies_fn(data["node_attrs"])
        pair = self.readout(self.radial(data["lengths"])).squeeze(-1)
        node = torch.zeros_like(node_e0).index_add_(0, data["sender"], pair.to(node_e0.dtype))
        return {"energy": (node_e0 + node).sum()}


def make_atoms(n_atoms, n_species, n_edges):
    species = torch.randint(0, n_species, (n_atoms,))
    return {
        "node_attrs": torch.nn.functional.one_hot(species, n_species).to(torch.get_default_dtype()),
        "lengths": torch.rand(n_edges) * 4 + 0.5,
        "sender": torch.randint(0, n_atoms, (n_edges,)),
    }


def run(args):
    torch.set_default_dtype(DTYPES[args.default_dtype])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MACE(np.array([-13.6, -1029.5, -2041.8])).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        batch = {k: v.to(device) for k, v in make_atoms(4, 3, 8).items()}
        loss = model(batch)["energy"].square()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--default_dtype", choices=list(DTYPES), default="float32")
    run(parser.parse_args())
