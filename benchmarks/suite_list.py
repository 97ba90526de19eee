"""The public packages whose test suites `suites.py` runs, and how: on which tests, and with what they must be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Suite:
    """A package with tests: its folder, the tests, and what pytest must be told so that they use an accelerator.

    `root` is the folder from which the package is imported; all paths are relative to the checkout. `environment` and
    `options` ask the tests to use an accelerator; `needed` and `always` are the environment and the options that they
    need wherever they run. `subject` is what the package is for; suites without one are not run in modes.
    """

    repository: str
    package: str
    tests: Sequence[str]
    root: str = "."
    options: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    needed: Mapping[str, str] = field(default_factory=dict)
    always: Sequence[str] = ()
    subject: str = ""

    @property
    def folder(self) -> str:
        """The name of the checkout's folder."""
        return self.repository.replace("/", "+")


SUITES: Final = (
    Suite(
        "pyg-team/pytorch_geometric",
        "torch_geometric",
        ["test/nn/pool", "test/nn/norm", "test/nn/aggr"],
        subject="graph",
    ),
    Suite(
        "kornia/kornia",
        "kornia",
        ["tests/losses"],
        options=["--device=cuda"],
        subject="vision",
    ),
    Suite(
        "KevinMusgrave/pytorch-metric-learning",
        "src/pytorch_metric_learning",
        ["tests/distances", "tests/reducers", "tests/regularizers"],
        "src",
        environment={"TEST_DEVICE": "cuda"},
        needed={"TEST_DEVICE": "cpu", "TEST_DTYPES": "float32"},
        subject="metric learning",
    ),
    Suite(
        "probabilists/zuko",
        "zuko",
        ["tests/test_distributions.py", "tests/test_transforms.py", "tests/test_nn.py"],
        subject="probabilistic",
    ),
    Suite(
        "bayesiains/nflows",
        "nflows",
        ["tests"],
        always=["-o", "python_files=*_test.py"],
        subject="probabilistic",
    ),
    Suite(
        "cornellius-gp/gpytorch",
        "gpytorch",
        ["test/likelihoods", "test/means"],
        subject="probabilistic",
    ),
    Suite(
        "thu-ml/tianshou",
        "tianshou",
        [f"test/base/test_{name}.py" for name in ("batch", "policy", "returns", "stats", "utils")],
        subject="reinforcement learning",
    ),
    Suite(
        "e3nn/e3nn",
        "e3nn",
        [
            "tests/math",
            *(f"tests/nn/{name}_test.py" for name in ("batchnorm", "dropout", "extract", "gate", "normact")),
        ],
        subject="equivariant networks",
    ),
    Suite(
        "kozistr/pytorch_optimizer",
        "pytorch_optimizer",
        ["tests/test_optimizer_variants.py", "tests/test_loss_functions.py"],
        always=["-o", "addopts="],
        subject="optimisers",
    ),
    Suite(
        "pytorch/opacus",
        "opacus",
        [f"opacus/tests/grad_samples/{name}_test.py" for name in ("linear", "layer_norm", "rms_norm")],
        always=["-o", "python_files=*_test.py", "--hypothesis-seed=0"],
        subject="privacy",
    ),
    Suite(
        "rtqichen/torchdiffeq",
        "torchdiffeq",
        ["tests/api_tests.py"],
        always=["-k", "forward"],
        subject="ODE",
    ),
    Suite(
        "lucidrains/x-transformers",
        "x_transformers",
        ["tests/test_x_transformers.py"],
        always=["-k", "adaptive or cls_token or average_pool or sink"],
        subject="text",
    ),
    Suite(
        "deep-spin/entmax",
        "entmax",
        ["entmax/test_mask.py", "entmax/test_topk.py"],
        subject="attention",
    ),
    Suite("pyg-team/pytorch-frame", "torch_frame", ["test/nn"], subject="tabular"),
    Suite("arogozhnikov/einops", "einops", ["einops/tests"], needed={"EINOPS_TEST_BACKENDS": "numpy,torch"}),
    Suite("cornellius-gp/linear_operator", "linear_operator", ["test"]),
    Suite("google-research/torchsde", "torchsde", ["tests"]),
    Suite("photosynthesis-team/piq", "piq", ["tests"]),
    Suite("geoopt/geoopt", "geoopt", ["tests"]),
    Suite("jeshraghian/snntorch", "snntorch", ["tests"]),
    Suite("pytorch/captum", "captum", ["tests/attr"]),
    Suite("skorch-dev/skorch", "skorch", ["skorch/tests"]),
    Suite("patrick-kidger/torchcde", "torchcde", ["test"]),
    Suite("facebookresearch/higher", "higher", ["tests"]),
    Suite(
        "Lightning-AI/torchmetrics",
        "src/torchmetrics",
        ["tests/unittests/regression", "tests/unittests/classification"],
        "src",
    ),
    Suite("TorchJD/torchjd", "src/torchjd", ["tests/unit"], "src", environment={"PYTEST_TORCH_DEVICE": "cuda:0"}),
)
