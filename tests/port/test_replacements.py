"""What replaces each kind of CUDA-only API, and where it is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.port.port_context import PortOptions

from .programs import check_port, port_files, reasons

HEAD = "import torch\n"


def ported(folder: Path, line: str, options: PortOptions | None = None) -> str:
    """Return one line of a program after its port, without the lines that import torch and make the device."""
    done = port_files(
        folder, {"a.py": f"{HEAD}import torch.distributed as dist\ndef f(x, i: int):\n    {line}\n"}, options
    )
    return done.after["a.py"].text.partition("def f(x, i: int):\n    ")[2].rstrip("\n").replace("\n    ", "\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.cuda()", "x.to(device)"),
        ("x.cuda(None)", "x.to(device)"),
        ("x.cuda(non_blocking=True)", "x.to(device, non_blocking=True)"),
        ("x.cuda(0)", 'x.to(f"{device.type}:0")'),
        ("x.cuda(i, True)", 'x.to(f"{device.type}:{i}", non_blocking=True)'),
        ('x.to("cuda:1")', 'x.to(f"{device.type}:1")'),
        ('x.to("cuda", torch.half)', "x.to(device, torch.half)"),
        ('torch.load("f", map_location="cuda")', 'torch.load("f", map_location=device)'),
        (
            'torch.load("f", map_location=f"cuda:{i}")',
            'torch.load("f", map_location=f"{device.type}:{i}" if torch.accelerator.is_available() else "cpu")',
        ),
        (
            'torch.load("f", "cuda:%d" % i)',
            'torch.load("f", f"{device.type}:%d" % i if torch.accelerator.is_available() else "cpu")',
        ),
        ('subprocess.run(["train", "--device", "cuda"])', 'subprocess.run(["train", "--device", device.type])'),
        ("torch.cuda.FloatTensor(i, x)", "torch.empty(i, x, dtype=torch.float32, device=device)"),
        ("torch.cuda.FloatTensor(x.size())", "torch.empty(x.size(), dtype=torch.float32, device=device)"),
        ('x.to("cuda:" + str(i))', 'x.to(f"{device.type}:" + str(i))'),
        ('x.to("cuda:{}".format(i))', 'x.to(f"{device.type}:{{}}".format(i))'),
        ('torch.device("cuda", i)', "torch.device(device.type, i)"),
        ('Trainer(device="cuda")', "Trainer(device=device.type)"),
        ('torch.is_autocast_enabled(device_type="cuda")', "torch.is_autocast_enabled(device_type=device.type)"),
        ('torch.autocast("cuda")', 'torch.autocast(device.type, enabled=device.type != "cpu")'),
        (
            'torch.autocast(device_type="cuda")',
            'torch.autocast(device_type=device.type, enabled=device.type != "cpu")',
        ),
        (
            'torch.autocast("cuda", torch.half, i > 1)',
            'torch.autocast(device.type, torch.half, i > 1 and device.type != "cpu")',
        ),
        ("torch.cuda.amp.autocast()", 'torch.amp.autocast(device.type, enabled=device.type != "cpu")'),
        (
            "torch.cuda.amp.autocast(True, torch.half)",
            'torch.amp.autocast(device.type, enabled=device.type != "cpu", dtype=torch.half)',
        ),
        ("torch.cuda.amp.autocast(enabled=False)", "torch.amp.autocast(device.type, enabled=False)"),
        (
            "torch.cuda.amp.GradScaler(1024.0)",
            'torch.amp.GradScaler(device.type, 1024.0, enabled=device.type != "cpu")',
        ),
        (
            "torch.cuda.amp.GradScaler(enabled=i)",
            'torch.amp.GradScaler(device.type, enabled=i and device.type != "cpu")',
        ),
        (
            "torch.cuda.amp.autocast()\n    x.cuda()",  # does not run on the host
            "torch.amp.autocast(device.type)\nx.to(device)",
        ),
        (
            "f = lambda: torch.cuda.empty_cache()",
            "f = lambda: (torch.accelerator.empty_cache() if torch.accelerator.is_available() else None)",
        ),
        ("torch.cuda.FloatTensor(2, 3)", "torch.empty(2, 3, dtype=torch.float32, device=device)"),
        ("torch.cuda.LongTensor([1, 2])", "torch.tensor([1, 2], dtype=torch.int64, device=device)"),
        ("x.type(torch.cuda.FloatTensor)", "x.to(device=device, dtype=torch.float32)"),
        ("x.type('torch.cuda.HalfTensor')", "x.to(device=device, dtype=torch.float16)"),
        ("torch.cuda.Event(enable_timing=True)", "torch.Event(enable_timing=True)"),
        ("torch.cuda.current_stream().synchronize()", "torch.accelerator.current_stream().synchronize()"),
        ("x.record_stream(torch.cuda.current_stream())", "x.record_stream(torch.accelerator.current_stream())"),
        ("n = torch.cuda.device_count()", "n = torch.accelerator.device_count()"),
        ("n = torch.cuda.current_device()", "n = torch.accelerator.current_device_index()"),
        ("dist.init_process_group('nccl')", "dist.init_process_group(dist.get_default_backend_for_device(device))"),
        (
            "dist.init_process_group(backend='nccl', rank=i)",
            "dist.init_process_group(backend=dist.get_default_backend_for_device(device), rank=i)",
        ),
        ("torch.cuda.synchronize()", "if torch.accelerator.is_available():\n    torch.accelerator.synchronize()"),
        (
            "torch.cuda.set_device(x.device)",
            "if torch.accelerator.is_available():\n    torch.accelerator.set_device_index(x.device)",
        ),
        (
            "torch.cuda.set_device(x.local_rank)",  # both do nothing for -1, and refuse None and a device without index
            "if torch.accelerator.is_available():\n    torch.accelerator.set_device_index(x.local_rank)",
        ),
        ("torch.cuda.set_device(i)", "if torch.accelerator.is_available():\n    torch.accelerator.set_device_index(i)"),
        (
            "torch.cuda.synchronize(device=x.device)",
            "if torch.accelerator.is_available():\n    torch.accelerator.synchronize(x.device)",
        ),
        (
            "if i: torch.cuda.empty_cache()",
            "if i: torch.accelerator.empty_cache() if torch.accelerator.is_available() else None",
        ),
        (
            "n = torch.cuda.memory_allocated() / 2",
            "n = (torch.accelerator.memory_allocated() if torch.accelerator.is_available() else 0) / 2",
        ),
        (
            "n = torch.cuda.max_memory_allocated(i)",
            "n = torch.accelerator.max_memory_allocated(i) if torch.accelerator.is_available() else 0",
        ),
        (
            "n = x.shape\n    with torch.cuda.device(x.device): pass",
            "n = x.shape\nwith torch.accelerator.device_index(x.device.index): pass",
        ),
        ("s: torch.cuda.Stream = i", "s: torch.Stream = i"),
        ("torch.cuda.get_rng_state()", "torch.get_device_module(device).get_rng_state()"),
    ],
)
def test_what_has_an_equivalent_is_replaced(tmp_path: Path, before: str, after: str) -> None:
    assert ported(tmp_path, before) == after


@pytest.mark.parametrize(
    "line",
    [
        "x.cuda(x.gpu)",  # may be None, and `.to(None)` moves nothing
        "x.cuda(*i)",
        "map(x.cuda, i)",
        "torch.load('f', lambda s, _: s.cuda(0))",
        'show("cuda")',
        'x.to(y, "cuda")',
        "handle = torch.cuda.synchronize",
        "n = {'cuda': 1}[x]",
        "n = i['cuda']",
        "if str(x).startswith('cuda'): x.cpu()",
        "getattr(torch.backends, 'cuda')",
        "torch.library.custom_op('a::b', mutates_args=(), device_types='cuda')",
        "n = x in ('cuda', 'cpu')",
        "n = x.device == torch.device('cuda:0')",
        "n = x.device in [torch.device('cuda'), i]",
        "torch.cuda.LongTensor(x)",
        "torch.cuda.FloatTensor if x else None",
        "torch.set_default_tensor_type(torch.cuda.FloatTensor)",
        "s = [torch.cuda.Stream()]",
        "with torch.cuda.device(x.device): pass",  # may be a text
        "launch(x, torch.cuda.current_stream())",
        "torch.cuda.Event(True)",
        "s = torch.cuda.get_rng_state_all()",  # [] on the host, whose module has none
        "torch.cuda.seed_all()",
        "f = torch.cuda.empty_cache",
        "torch.cuda.amp.autocast(i if x else False)",
        "try:\n        n = torch.cuda.get_device_name()\n    except AssertionError:\n        n = ''",
        "if x.device.type == 'cuda': x.cuda()",
        "if torch.cuda.is_available(): x.cuda()",
        "x = x.cuda() if x.use_gpu else x",
        "assert torch.cuda.is_available()\n    x.cuda()",
        "if not torch.cuda.is_available():\n        return\n    x.cuda()",
        "if x.is_cuda:\n        y = x.cuda()",
        "torch.cuda.nvtx.range_push('a')",
        "torch.backends.cudnn.benchmark = True",
        "g = torch.cuda.CUDAGraph()",
        "print(torch.cuda.is_available())",
    ],
)
def test_what_may_mean_something_else_is_left(tmp_path: Path, line: str) -> None:
    assert ported(tmp_path, line) == line.replace("\n    ", "\n")


def test_reports_tell_what_is_left_and_why(tmp_path: Path) -> None:
    text = "import torch\n\nif torch.cuda.is_available():\n    x = torch.ones(2).cuda()\n"
    text += "torch.backends.cudnn.benchmark = True\nprint(f(torch.ones(2).cuda(g())))\n"
    done = port_files(tmp_path, {"a.py": text})
    found = [(one.region.start.row, one.text, one.outcome.value, one.note) for one in done.uses]
    assert found == [
        (3, "torch.cuda.is_available", "left on purpose", "it is part of a condition on code that is for CUDA"),
        (4, "torch.ones(2).cuda()", "left on purpose", "line 3 asks for the device, and decides whether this runs"),
        (5, "torch.backends.cudnn.benchmark", "left on purpose", "flags of cuDNN: without effect elsewhere"),
        (
            6,
            "torch.ones(2).cuda(g())",
            "left for a human",
            "its argument may be an index, a device or None, and `to` does nothing for None",
        ),
    ]
    assert [one.has_equivalent for one in done.uses] == [True, True, False, True]


def test_names_are_read_through_imports_and_not_by_their_spelling(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch as t
        import torch
        from torch.cuda import amp
        import cuda

        def f(torch, x):
            torch.cuda.synchronize()
            t.cuda.synchronize()
            cuda.synchronize()

        def g():
            with amp.autocast():
                pass
        # becomes
        import torch as t
        import torch
        from torch.cuda import amp
        import cuda

        # the device

        def f(torch, x):
            torch.cuda.synchronize()
            if t.accelerator.is_available():
                t.accelerator.synchronize()
            cuda.synchronize()

        def g():
            with torch.amp.autocast(device.type):
                pass
        """,
    )


def test_an_import_of_amp_is_changed_with_all_its_uses(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch
        from torch.cuda.amp import GradScaler, autocast, custom_fwd

        scaler: GradScaler = GradScaler(enabled=True)

        @custom_fwd
        def forward(ctx, x):
            with autocast(False):
                return x
        # becomes
        import torch
        from torch.amp import GradScaler, autocast, custom_fwd

        # the device

        scaler: GradScaler = GradScaler(device.type, enabled=device.type != "cpu")

        @custom_fwd(device_type=device.type)
        def forward(ctx, x):
            with autocast(device.type, enabled=False):
                return x
        """,
    )


def test_an_import_of_amp_from_a_module_below_it_is_changed_too(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch

        def f(model, x):
            from torch.cuda.amp.grad_scaler import GradScaler
            from torch.cuda.amp.autocast_mode import autocast
            scaler = GradScaler()
            with autocast():
                return scaler.scale(model(x.cuda()))
        # becomes
        import torch

        # the device

        def f(model, x):
            from torch.amp import GradScaler
            from torch.amp import autocast
            scaler = GradScaler(device.type)
            with autocast(device.type):
                return scaler.scale(model(x.to(device)))
        """,
    )


def test_an_import_of_amp_in_a_function_is_changed_where_the_file_lists_its_names(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch

        __all__ = ["run"]

        def run(model):
            from torch.cuda.amp import autocast
            return autocast(), model.cuda()
        # becomes
        import torch

        # the device

        __all__ = ["run"]

        def run(model):
            from torch.amp import autocast
            return autocast(device.type), model.to(device)
        """,
    )


def test_an_import_of_amp_at_the_top_is_left_where_the_file_lists_its_names(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch
        from torch.cuda.amp import autocast

        __all__ = ["run", "autocast"]

        def run():
            return autocast()
        """,
    )
    assert reasons(left) == [("autocast", "left for a human")]


def test_where_an_import_of_amp_is_left_other_uses_get_their_full_names(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch
        from torch.cuda.amp import autocast

        def f(use=autocast):
            with autocast():
                pass
            if torch.cuda.is_available():
                with autocast():
                    pass
        # becomes
        import torch
        from torch.cuda.amp import autocast

        # the device

        def f(use=autocast):
            with torch.amp.autocast(device.type, enabled=device.type != "cpu"):
                pass
            if torch.cuda.is_available():
                with autocast():
                    pass
        """,
    )
    outcomes = [(one.text, one.outcome.value) for one in left if "autocast" in one.text]
    assert outcomes == [("autocast", "left for a human"), ("autocast", "left on purpose")]


def test_an_import_of_amp_that_may_fail_is_left_with_all_its_uses(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch
        try:
            from torch.cuda.amp import autocast
        except ImportError:
            autocast = None

        def f():
            with autocast():
                pass
        """,
    )
    assert {one.outcome.value for one in left} == {"left for a human"}


def test_what_tells_backends_apart_is_left_on_purpose(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import enum
        import torch

        class Kind(enum.Enum):
            CUDA = "cuda"
            NPU = "npu"

        KNOWN = ["cpu", "npu", "cuda"]

        @torch.library.custom_op("a::b", mutates_args=(), device_types=["cuda"])
        def operator(x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @operator.register_kernel("cuda")
        def kernel(x):
            return x

        def check(backend, kernels):
            assert backend in ["gloo", "nccl"]
            return [one for one in kernels if one.name.startswith("nccl")]
        """,
    )
    assert [one.outcome.value for one in left] == ["left on purpose"] * 6


def test_the_module_that_stands_for_one_that_torch_lacks_is_left_on_purpose(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch

        def peak(kind: str):
            return getattr(torch, kind, torch.cuda).max_memory_allocated()

        def fixed(kind: str):
            return getattr(torch, "xpu", torch.cuda).max_memory_allocated()
        """,
    )
    assert [one.outcome.value for one in left] == ["left on purpose", "left for a human"]


def test_what_the_code_chooses_by_the_device_is_left_on_purpose(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import argparse
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--device", choices=["cpu", "npu", "cuda"])

        def run(device, x):
            amp = torch.cuda.amp.autocast
            if "npu" in str(device):
                amp = torch.npu.amp.autocast
            with torch.cuda.stream(torch.cuda.Stream() if device.type == "cuda" else None):
                with amp(enabled=False):
                    return x
        """,
    )
    assert len(left) == 5
    assert {one.outcome.value for one in left} == {"left on purpose"}


def test_an_import_of_amp_under_a_condition_on_something_else_is_changed(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch

        def run(model, scaler=None):
            if scaler is None:
                from torch.cuda.amp import GradScaler

                scaler = GradScaler()
            return scaler, model.cuda()
        # becomes
        import torch

        # the device

        def run(model, scaler=None):
            if scaler is None:
                from torch.amp import GradScaler

                scaler = GradScaler(device.type)
            return scaler, model.to(device)
        """,
    )


def test_backends_among_the_choices_of_an_option_are_replaced(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import argparse
        import torch
        import torch.distributed as dist

        parser = argparse.ArgumentParser()
        parser.add_argument("--dist-backend", default="nccl", choices=["nccl", "gloo"])

        class Options:
            backend: str = "nccl"
        # becomes
        import argparse
        import torch
        import torch.distributed as dist

        # the device

        parser = argparse.ArgumentParser()
        parser.add_argument("--dist-backend", default=dist.get_default_backend_for_device(device), choices=[dist.get_default_backend_for_device(device), "gloo"])

        class Options:
            backend: str = dist.get_default_backend_for_device(device)
        """,  # noqa: E501
    )


def test_a_check_is_indented_as_the_blocks_of_the_file(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch

        class Solver(object):

          def clean(self,
                    often=True):

            for _ in range(3):
              torch.cuda.empty_cache()
        # becomes
        import torch

        class Solver(object):

          def clean(self,
                    often=True):

            for _ in range(3):
              if torch.accelerator.is_available():
                torch.accelerator.empty_cache()
        """,
    )


def test_a_seed_beside_that_of_torch_is_removed(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import random
        import torch

        def seed_all(seed):
            random.seed(seed)
            torch.manual_seed(seed)
            torch.cuda.manual_seed(seed)
            torch.cuda.manual_seed_all(seed)  # all of them

        def other(seed):
            torch.manual_seed(seed)
            torch.rand(1)
            torch.cuda.manual_seed_all(seed)

        def third(seed):
            torch.manual_seed(seed)
            seed = seed + 1
            torch.cuda.manual_seed_all(seed)
        # becomes
        import random
        import torch

        def seed_all(seed):
            random.seed(seed)
            torch.manual_seed(seed)
            torch.cuda.manual_seed_all(seed)  # all of them

        def other(seed):
            torch.manual_seed(seed)
            torch.rand(1)
            torch.cuda.manual_seed_all(seed)

        def third(seed):
            torch.manual_seed(seed)
            seed = seed + 1
            torch.cuda.manual_seed_all(seed)
        """,
    )
    assert [one.outcome.value for one in left] == ["left for a human"] * 3


def test_what_the_oldest_torch_lacks_is_not_used(tmp_path: Path) -> None:
    old = PortOptions(min_torch=(2, 6))
    assert ported(tmp_path, "torch.cuda.empty_cache()", old) == "torch.cuda.empty_cache()"
    assert "torch.accelerator.synchronize()" in ported(tmp_path, "torch.cuda.synchronize()", old)
    new = PortOptions(min_torch=(2, 10))
    assert ported(tmp_path, "torch.cuda.mem_get_info()") == "torch.cuda.mem_get_info()"
    assert ported(tmp_path, "torch.cuda.mem_get_info()", new) == "torch.accelerator.get_memory_info()"


def test_a_class_with_a_transfer_of_its_own_makes_transfers_unclear(tmp_path: Path) -> None:
    own = "class Batch:\n    def cuda(self):\n        self.x = self.x.cuda()\n        return self\n"
    user = "import torch\nfrom own import Batch\n\ndef f(b):\n    return b.cuda(), torch.ones(2).cuda()\n"
    done = port_files(
        tmp_path,
        {"own.py": f"import torch\n{own}", "user.py": user, "far.py": "import torch\ndef g(b):\n    b.cuda()\n"},
    )
    assert [(one.text, one.outcome.value) for one in done.uses] == [
        ("b.cuda()", "ported"),
        ("self.x.cuda()", "left on purpose"),
        ("b.cuda()", "left for a human"),
        ("torch.ones(2).cuda()", "ported"),
    ]


def test_a_conversion_is_left_where_there_are_several_devices(tmp_path: Path) -> None:
    text = "import torch\n\ndef f(x):\n    return x.type(torch.cuda.FloatTensor)\n"
    assert "x.to(" in port_files(tmp_path, {"a.py": text}).after["a.py"].text
    several = f"{text}\ndef g(net):\n    return torch.nn.DataParallel(net)\n"
    assert "x.type(" in port_files(tmp_path, {"a.py": several}).after["a.py"].text


def test_classes_that_torchscript_compiles_are_left(tmp_path: Path) -> None:
    net = "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x.cuda()\n"
    use = "import torch\nfrom net import Net\n\nnet = torch.jit.script(Net().cuda())\n"
    done = port_files(tmp_path, {"net.py": net, "use.py": use})
    assert done.after["net.py"].text == net
    assert "torch.jit.script(Net().to(device))" in done.after["use.py"].text
    assert "x.to(device)" in port_files(tmp_path, {"net.py": net}).after["net.py"].text
