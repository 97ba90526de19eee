import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class TSMixerx(nn.Module):
    def __init__(self, h, input_size, n_series):
        super().__init__()
        self.h = h
        self.time = nn.Linear(input_size, h)
        self.series = nn.Linear(n_series, n_series)

    def forward(self, windows):
        return self.series(self.time(windows.transpose(1, 2)).transpose(1, 2))


class Trainer:
    DTYPES = {"32-true": torch.float32, "bf16-true": torch.bfloat16}

    def __init__(self, precision="32-true", device="cpu"):
        self.dtype = self.DTYPES[precision]
        self.device = device

    def predict(self, model, loader):
        model = model.to(self.device, self.dtype).eval()
        outputs = []
        with torch.no_grad():
            for (windows,) in loader:
                outputs.append(model(windows.to(self.device, self.dtype)).cpu())
        return outputs


class BaseMultivariate:
    def __init__(self, model, **trainer_kwargs):
        self.model = model
        self.trainer_kwargs = trainer_kwargs

    def predict(self, dataset, step_size=1):
        trainer = Trainer(**self.trainer_kwargs)
        fcsts = trainer.predict(self.model, DataLoader(dataset, batch_size=4))
        fcsts = torch.vstack(fcsts).numpy()
        fcsts = fcsts[::step_size]
        return np.reshape(fcsts, (-1, fcsts.shape[-1]))


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    windows = torch.randn(8, 24, 3)
    model = BaseMultivariate(TSMixerx(h=6, input_size=24, n_series=3), precision="bf16-true", device=device)
    print(model.predict(TensorDataset(windows)).shape)


if __name__ == "__main__":
    main()
