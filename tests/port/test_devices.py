"""The program's device: found where there is one, made where there is none, and used in place of CUDA."""

from __future__ import annotations

from pathlib import Path

from devlint.port.port_context import PortOptions

from .programs import ACCELERATOR, check_port, port_files, reasons

BUILT = '(torch.accelerator.current_accelerator() or torch.device("cpu"))'
"""The device that torch is built for, which code names without asking whether there is one."""


def test_a_device_of_the_file_is_used(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        x = torch.ones(3).cuda()
        y = torch.ones(3, device="cuda")
        # becomes
        import torch

        device = ACCELERATOR
        x = torch.ones(3).to(device)
        y = torch.ones(3, device=device)
        """,
    )
    assert not left


def test_a_device_is_made_after_the_imports(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        '''Docstring.'''
        import os
        import torch
        from torch import nn


        def f(model):
            return model.cuda()
        # becomes
        '''Docstring.'''
        import os
        import torch
        from torch import nn

        # the device


        def f(model):
            return model.to(device)
        """,
    )


def test_a_name_in_use_is_not_taken(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch

        def f(model, device):
            return model.cuda()
        # becomes
        import torch

        accelerator = ACCELERATOR

        def f(model, device):
            return model.to(accelerator)
        """,
    )


def test_the_name_of_the_device_can_be_chosen(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch
        x = torch.ones(3).cuda()
        # becomes
        import torch

        DEVICE = ACCELERATOR
        x = torch.ones(3).to(DEVICE)
        """,
        PortOptions(device_name="DEVICE"),
    )


def test_the_choice_of_a_device_asks_for_any_accelerator(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch

        def main():
            if torch.cuda.is_available():
                device = torch.device("cuda")
            else:
                device = torch.device("cpu")
            name = (
                "cuda:0"
                if torch.cuda.is_available() and not args.no_cuda
                else "cpu"
            )
            return device, name
        # becomes
        import torch

        def main():
            if torch.accelerator.is_available():
                device = torch.accelerator.current_accelerator()
            else:
                device = torch.device("cpu")
            name = (
                f"{torch.accelerator.current_accelerator().type}:0"
                if torch.accelerator.is_available() and not args.no_cuda
                else "cpu"
            )
            return device, name
        """,
    )
    assert not left


def test_a_constant_becomes_a_choice(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import torch

        def main(model):
            device = "cuda"
            return model.to(device), torch.zeros(1).cuda()
        # becomes
        import torch

        def main(model):
            device = CHOSEN "cpu"
            return model.to(device), torch.zeros(1).to(device)
        """,
    )


def test_a_name_that_holds_no_accelerator_or_another_one_is_not_used(tmp_path: Path) -> None:
    for value in ('torch.device("cpu")', "pick()", '"cuda:1"', "x.device"):
        text = f"import torch\n\ndef f(x):\n    where = {value}\n    return x.cuda(), where\n"
        done = port_files(tmp_path, {"a.py": text})
        assert "x.to(device)" in done.after["a.py"].text
        assert "\ndevice = " in done.after["a.py"].text


def test_a_device_that_is_bound_twice_is_not_used(tmp_path: Path) -> None:
    text = 'import torch\n\ndef f(x):\n    d = "cuda"\n    if x:\n        d = "cpu"\n    return x.cuda(), d\n'
    done = port_files(tmp_path, {"a.py": text})
    assert "x.to(device)" in done.after["a.py"].text


def test_a_device_chosen_later_is_not_used(tmp_path: Path) -> None:
    text = 'import torch\n\ndef f(x):\n    x = x.cuda()\n    d = torch.device("cuda")\n    return x, d\n'
    assert "x = x.to(device)" in port_files(tmp_path, {"a.py": text}).after["a.py"].text


def test_where_the_program_sets_the_visible_devices_the_accelerator_is_asked_late(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import os
        import torch

        def main(gpu):
            os.environ["CUDA_VISIBLE_DEVICES"] = gpu
            where = "cuda"
            model = torch.nn.Linear(2, 2)
            for _ in range(3):
                model.cuda()
            return model
        # becomes
        import os
        import torch

        def main(gpu):
            os.environ["CUDA_VISIBLE_DEVICES"] = gpu
            where = "cuda"
            model = torch.nn.Linear(2, 2)
            # the device
            for _ in range(3):
                model.to(device)
            return model
        """,
    )
    assert reasons(left) == [('"cuda"', "left for a human")]


def test_files_around_the_one_that_sets_the_visible_devices_ask_late(tmp_path: Path) -> None:
    sets = 'import os\n\ndef choose(gpu):\n    os.environ["CUDA_VISIBLE_DEVICES"] = gpu\n'
    model = "import torch\n\ndef make(x):\n    return x.cuda()\n"
    main = "import torch\nimport {}\nimport model\n\ndef main(x):\n    {}\n    return model.make(x.cuda())\n"
    files = {"gpus.py": sets, "model.py": model, "main.py": main.format("gpus", "gpus.choose(0)")}
    done = port_files(tmp_path, files)
    assert done.after["main.py"].text == main.format("gpus", "gpus.choose(0)").replace(
        "    return model.make(x.cuda())", f"    device = {ACCELERATOR}\n    return model.make(x.to(device))"
    )
    assert f"\n    device = {ACCELERATOR}" in done.after["model.py"].text
    # Nothing of this program sets them.
    done = port_files(tmp_path, {"model.py": model, "main.py": main.format("model", "")})
    assert f"\n\ndevice = {ACCELERATOR}\n" in done.after["main.py"].text
    assert f"\n\ndevice = {ACCELERATOR}\n" in done.after["model.py"].text


def test_what_reaches_no_device_yet_does_not_ask_for_one_before_the_visible_devices_are_set(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import os
        import torch

        torch.cuda.empty_cache()

        def seed(n):
            torch.cuda.manual_seed(n)

        def train(model):
            torch.cuda.empty_cache()
            return model

        def main(args):
            seed(args.seed)
            before = torch.cuda.memory_allocated()
            os.environ["CUDA_VISIBLE_DEVICES"] = args.gpus
            after = torch.cuda.memory_allocated()
            return train(args), before, after
        # becomes
        import os
        import torch

        torch.cuda.empty_cache()

        def seed(n):
            torch.cuda.manual_seed(n)

        def train(model):
            if torch.accelerator.is_available():
                torch.accelerator.empty_cache()
            return model

        def main(args):
            seed(args.seed)
            before = torch.cuda.memory_allocated()
            os.environ["CUDA_VISIBLE_DEVICES"] = args.gpus
            after = torch.accelerator.memory_allocated() if torch.accelerator.is_available() else 0
            return train(args), before, after
        """,
    )
    assert {one.note for one in left} == {
        "the program sets the visible devices or forks, perhaps later than this, and must not ask before"
    }
    assert [one.text for one in left] == [
        "torch.cuda.empty_cache",
        "torch.cuda.manual_seed",
        "torch.cuda.memory_allocated",
    ]


def test_a_choice_at_the_top_asks_as_much_as_before(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import os
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

        def main(gpus):
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus
        # becomes
        import os
        import torch

        device = ACCELERATOR

        def main(gpus):
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus
        """,
    )


def test_a_file_that_imports_torch_in_functions_only_is_left(tmp_path: Path) -> None:
    left = check_port(tmp_path, "def f(x):\n    import torch\n    return x.cuda(), torch\n")
    assert reasons(left) == [("x.cuda()", "left for a human")]


def test_a_default_of_a_parameter_and_of_an_option_follow_the_device(tmp_path: Path) -> None:
    check_port(
        tmp_path,
        """
        import argparse
        import torch

        def f(x, device="cuda"):
            return x.to(device)

        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
        parser.add_argument("--dist-backend", default="nccl")
        # becomes
        import argparse
        import torch

        accelerator = ACCELERATOR

        def f(x, device=accelerator.type):
            return x.to(device)

        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default=accelerator.type, choices=[accelerator.type, "cpu"])
        parser.add_argument("--dist-backend", default=torch.distributed.get_default_backend_for_device(accelerator))
        """,
    )


def test_defaults_of_a_program_that_sets_the_visible_devices_name_what_torch_is_built_for(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import argparse
        import os
        import torch

        def f(x, device="cuda", deviceOfHead="cuda", kind="cuda"):
            return x.to(device), deviceOfHead, kind

        def main(parser):
            parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
            parser.add_argument("--dist-backend", default="nccl", choices=["nccl", "gloo"])
            os.environ["CUDA_VISIBLE_DEVICES"] = parser.parse_args().gpu
        # becomes
        import argparse
        import os
        import torch

        def f(x, device=BUILT.type, deviceOfHead=BUILT.type, kind="cuda"):
            return x.to(device), deviceOfHead, kind

        def main(parser):
            parser.add_argument("--device", default=BUILT.type, choices=[BUILT.type, "cpu"])
            parser.add_argument("--dist-backend", default=BACKEND, choices=[BACKEND, "gloo"])
            os.environ["CUDA_VISIBLE_DEVICES"] = parser.parse_args().gpu
        """.replace("BACKEND", "torch.distributed.get_default_backend_for_device(BUILT)")
        .replace("(BUILT)", BUILT)
        .replace("BUILT", BUILT),
    )
    assert reasons(left) == [('"cuda"', "left for a human")]  # whether `kind` is a device, its name does not tell


def test_a_default_of_an_older_torch_is_left_where_the_visible_devices_are_set(tmp_path: Path) -> None:
    text = "import os\nimport torch\n\ndef f(x, device='cuda'):\n    os.environ['CUDA_VISIBLE_DEVICES'] = x\n"
    left = check_port(tmp_path, text, PortOptions(min_torch=(2, 6)))
    assert reasons(left) == [("'cuda'", "left for a human")]


def test_visible_devices_that_are_set_before_all_imports_are_in_time(tmp_path: Path) -> None:
    first = 'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\nimport torch\nimport b\nx = torch.ones(1).cuda()\n'
    second = "import torch\n\ndef f(x):\n    return x.cuda()\n"
    done = port_files(tmp_path, {"a.py": first, "b.py": second})
    assert "import b\n\ndevice = torch" in done.after["a.py"].text
    assert "import torch\n\ndevice = torch" in done.after["b.py"].text
    late = first.replace("import b\n", "").replace("import os\n", "import os\nimport b\n")
    done = port_files(tmp_path, {"a.py": late, "b.py": second, "c.py": second})
    assert "    device = torch" in done.after["b.py"].text
    assert "import torch\n\ndevice = torch" in done.after["c.py"].text


def test_a_choice_where_no_device_was_given(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch

        def pick(device, i):
            if device == "auto":
                return torch.device('cuda'if torch.cuda.is_available() else 'cpu')
            if device is None:
                return "cuda:{}".format(i) if torch.cuda.is_available() else "cpu"
            if device != "cuda":
                return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        # becomes
        import torch

        def pick(device, i):
            if device == "auto":
                return torch.accelerator.current_accelerator() AVAILABLE else torch.device('cpu')
            if device is None:
                return f"{torch.accelerator.current_accelerator().type}:{{}}".format(i) AVAILABLE else "cpu"
            if device != "cuda":
                return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        """.replace("AVAILABLE", "if torch.accelerator.is_available()"),
    )
    assert {one.region.start.row for one in left} == {8, 9}


def test_a_choice_is_written_like_a_device_that_is_made_wherever_it_needs_no_parentheses(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch
        from torch import device as dev

        first = dev("cuda" if flag and torch.cuda.is_available() else "cpu")
        second = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
        kind = torch.device("cuda" if torch.cuda.is_available() else "cpu").type
        third = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        fourth = torch.device(
            "cuda" if torch.cuda.is_available() else "cpu"  # the fast one
        )
        # becomes
        import torch
        from torch import device as dev

        first = torch.accelerator.current_accelerator() if flag and torch.accelerator.is_available() else dev("cpu")
        second = ACCELERATOR
        kind = torch.device(CHOSEN "cpu").type
        third = torch.device(f"{torch.accelerator.current_accelerator().type}:0" AVAILABLE else "cpu")
        fourth = torch.device(
            CHOSEN "cpu"  # the fast one
        )
        """.replace("AVAILABLE", "if torch.accelerator.is_available()"),
    )
    assert not left


def test_a_device_of_another_file_is_used_where_it_is_imported(tmp_path: Path) -> None:
    settings = 'DEVICE = "cuda"\nOTHER = "cuda:1"\n'
    user = "import torch\nfrom settings import {} as there\n\ndef f(x):\n    return x.cuda()\n"
    done = port_files(tmp_path, {"settings.py": settings, "a.py": user.format("DEVICE"), "b.py": user.format("OTHER")})
    assert done.after["settings.py"].text.startswith(
        "import torch\nDEVICE = torch.accelerator.current_accelerator().type"
    )
    assert done.after["a.py"].text == user.format("DEVICE").replace("cuda()", "to(there)")
    assert "x.to(device)" in done.after["b.py"].text


def test_processes_that_are_no_forks_ask_for_devices_themselves(tmp_path: Path) -> None:
    text = "import torch\nimport torch.multiprocessing as mp\n\ndef f(x):\n    return x.cuda()\n\n"
    text += "mp.set_start_method('{}')\nmp.Process(target=f).start()\n"
    assert "as mp\n\ndevice = torch" in port_files(tmp_path, {"a.py": text.format("spawn")}).after["a.py"].text
    # A fork server has run the top of the main file before it forks.
    assert "as mp\n\ndevice = torch" not in port_files(tmp_path, {"a.py": text.format("forkserver")}).after["a.py"].text
    assert "    device = torch" in port_files(tmp_path, {"a.py": text.format("fork")}).after["a.py"].text


def test_a_device_made_in_time_for_another_use_serves_what_must_not_ask_for_one(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import os
        import torch

        class Trainer:
            def __init__(self, gpu, net):
                self.first = torch.device(f"cuda:{gpu}")
                self.net = net.cuda()
                self.device = torch.device(f"cuda:{gpu}")

        def main(args):
            os.environ["CUDA_VISIBLE_DEVICES"] = args.gpus
        # becomes
        import os
        import torch

        class Trainer:
            def __init__(self, gpu, net):
                self.first = torch.device(f"cuda:{gpu}")
                # the device
                self.net = net.to(device)
                self.device = torch.device(f"{device.type}:{gpu}")

        def main(args):
            os.environ["CUDA_VISIBLE_DEVICES"] = args.gpus
        """,
    )
    assert len(left) == 1
