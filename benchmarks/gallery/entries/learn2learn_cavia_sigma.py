"""learn2learn's CAVIA policy registers no parameter for its deviation on a GPU."""

from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="learn2learn",
    commit="0.2.0",
    file="examples/rl/policies.py",
    row=41,
    code="DEV113",
    what="The deviation of the policy's actions is never trained on a GPU: the moved tensor is no parameter.",
    expected="sigma is a parameter: False",
    observed=True,
    inside="examples/rl",
)


def show(device: str) -> object:
    """Make a policy on the device and look for its deviation among the parameters."""
    stand_in("cherry")
    policy = module("policies").CaviaDiagNormalPolicy(3, 2, device=device)
    return f"sigma is a parameter: {'sigma' in dict(policy.named_parameters())}"
