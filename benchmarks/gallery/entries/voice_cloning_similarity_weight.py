"""SpeakerEncoder registers no scale of its similarities on a GPU."""

from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="CorentinJ/Real-Time-Voice-Cloning",
    commit="865eba8826bb6d76721a9d828a546724779c23ab",
    file="encoder/model.py",
    row=27,
    code="DEV113",
    what="With the loss on a GPU the scale of the similarities is no parameter and never trained.",
    expected="similarity_weight is a parameter: False",
    observed=True,
)


def show(device: str) -> object:
    """Make an encoder on the device and look for its scale among the parameters."""
    stand_in("sklearn", "librosa", "webrtcvad", "matplotlib", "umap", "visdom", "tqdm")
    encoder = module("encoder.model").SpeakerEncoder(device, device)
    return f"similarity_weight is a parameter: {'similarity_weight' in dict(encoder.named_parameters())}"
