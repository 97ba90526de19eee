"""TorchCP counts the candidates of prediction sets on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="torchcp",
    commit="1.2.1",
    file="torchcp/llm/predictor/conformal_llm.py",
    row=334,
    code="DEV105",
    what="ConformalLM.predict_with_config() raises for scores on a GPU.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Predict sets from scores with one configuration."""
    stand_in("torch_geometric", "sklearn", "torchsort", "torchvision", "transformers", "tqdm")
    predictor = module("torchcp.llm.predictor.conformal_llm").ConformalLM()
    predictor.scaling(None, None)
    config, scores = torch.zeros(3, device=device), torch.rand(2, 4, device=device)
    return predictor.predict_with_config(
        config=config, item_scores=scores, similarity_scores=torch.rand(2, 4, 4, device=device)
    )
