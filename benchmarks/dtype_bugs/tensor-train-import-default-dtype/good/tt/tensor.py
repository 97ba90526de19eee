import torch


class Tensor:
    """A tensor in tensor train format: a list of cores."""

    def __init__(self, cores):
        self.cores = cores

    @classmethod
    def random(cls, shape, rank):
        ranks = [1] + [rank] * (len(shape) - 1) + [1]
        return cls([torch.randn(ranks[i], n, ranks[i + 1]) for i, n in enumerate(shape)])

    def numel(self):
        return sum(core.numel() for core in self.cores)
