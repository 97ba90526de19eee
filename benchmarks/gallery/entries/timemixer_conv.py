"""TimeMixer makes a convolution in forward(), on the host."""

from types import SimpleNamespace

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="thuml/Time-Series-Library",
    commit="4e938a1767106324dd753b2a44832bf870a0252e",
    file="models/TimeMixer.py",
    row=296,
    code="DEV105",
    what="TimeMixer with `--down_sampling_method conv` cannot run on a GPU (nor is the convolution ever trained).",
    expected="should be the same",
    raised_at=331,
)


def show(device: str) -> object:
    """Forecast with a moved model that samples down by convolution."""
    sizes = {"seq_len": 8, "label_len": 4, "pred_len": 4, "enc_in": 2, "c_out": 2, "d_model": 4, "d_ff": 4}
    sampling = {"down_sampling_window": 2, "down_sampling_layers": 1, "down_sampling_method": "conv"}
    embedding = {"embed": "timeF", "freq": "h", "dropout": 0.0, "use_norm": 1, "channel_independence": 1}
    parts = {"e_layers": 1, "moving_avg": 3, "decomp_method": "moving_avg", "top_k": 2}
    configs = SimpleNamespace(task_name="long_term_forecast", **sizes, **sampling, **embedding, **parts)
    model = module("models.TimeMixer").Model(configs).to(device)
    return model.forecast(torch.rand(1, 8, 2, device=device), None, None, None)
