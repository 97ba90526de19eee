"""Streams: ported where all that is done with them is the same for streams of torch, on CUDA too."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from devlint.port.streams import _METHODS

from .programs import check_port, port_files

HEAD = "import torch\n\n"
PREFETCHER = """\
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = torch.cuda.Stream()
        self.load()

    def load(self):
        with torch.cuda.stream(self.stream):
            self.batch = next(self.loader)

    def take(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.batch
        batch.record_stream(torch.cuda.current_stream())
        self.load()
        return batch
"""


def test_a_stream_of_an_object_is_ported_with_all_its_uses(tmp_path: Path) -> None:
    after = PREFETCHER.replace("with torch.cuda.stream(self.stream):", "with self.stream:")
    after = after.replace("torch.cuda.Stream()", "torch.Stream()")
    after = after.replace("torch.cuda.current_stream()", "torch.accelerator.current_stream()")
    assert not check_port(tmp_path, f"{HEAD}{PREFETCHER}# becomes\n{HEAD}{after}")


def test_a_stream_of_a_function_is_ported_with_all_its_uses(tmp_path: Path) -> None:
    left = check_port(
        tmp_path,
        """
        import torch

        def run(steps, event):
            side = torch.cuda.Stream(priority=-1)
            side.wait_stream(torch.cuda.current_stream())
            for step in steps:
                with torch.cuda.stream(side):
                    step()
                side.record_event(event)
            event.wait(torch.cuda.current_stream())
            torch.cuda.current_stream().wait_stream(side)
        # becomes
        import torch

        def run(steps, event):
            side = torch.Stream(priority=-1)
            side.wait_stream(torch.accelerator.current_stream())
            for step in steps:
                with side:
                    step()
                side.record_event(event)
            event.wait(torch.accelerator.current_stream())
            torch.accelerator.current_stream().wait_stream(side)
        """,
    )
    assert not left


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # It may be None, which `with` refuses.
        ("= torch.cuda.Stream()", "= torch.cuda.Stream() if loader else None"),
        ("        self.load()\n\n", "        self.load()\n        if loader: self.stream = None\n\n"),
        ("        self.stream =", "        if torch.cuda.is_available(): self.stream ="),
        # Only streams of CUDA have it, or it goes to other code.
        ("        return batch", "        return batch, self.stream"),
        ("        return batch", "        return batch, self.stream.priority"),
        ("        return batch", "        return batch, launch(self.stream)"),
        ("Stream()", "Stream(device)"),
        # A stream of torch could not be entered twice before torch 2.12.
        ("            self.batch =", "            self.again()\n            self.batch ="),
    ],
)
def test_a_stream_that_may_be_something_else_is_left(tmp_path: Path, old: str, new: str) -> None:
    again = "\n    def again(self):\n        with torch.cuda.stream(self.stream):\n            pass\n"
    text = HEAD + PREFETCHER.replace(old, new) + again
    done = port_files(tmp_path, {"a.py": text}).after["a.py"].text
    assert "torch.cuda.Stream(" in done
    assert done.count("with torch.cuda.stream(self.stream):") == 2


INDEXED = PREFETCHER.replace("loader):", "loader, rank):").replace("Stream()", "Stream(rank)")


def test_a_stream_of_a_device_whose_index_is_known_is_ported(tmp_path: Path) -> None:
    before = INDEXED.replace("        self.load()", '        self.device = f"cuda:{rank}"\n        self.load()', 1)
    known = INDEXED.replace("        self.loader", '        self.device = f"cuda:{rank}"\n        self.loader', 1)
    for text in (known, known.replace("self.stream =", "self.stream: torch.cuda.Stream =")):
        done = port_files(tmp_path, {"a.py": HEAD + text}).after["a.py"].text
        assert "torch.Stream(rank)" in done
        assert "with self.stream:" in done
    # It may be -1 or None, for which the stream is one of the current device.
    others = [
        INDEXED,
        before,  # the index is written out after the stream is made, and may be another one by then
        known.replace("        self.stream", "        rank = rank or None\n        self.stream"),
        known.replace('f"cuda:{rank}"', '"cpu" if rank is None else f"cuda:{rank}"'),
        known.replace('self.device = f"cuda:{rank}"', 'if rank is not None: self.device = f"cuda:{rank}"'),
        known.replace("Stream(rank)", "Stream(rank - 1)"),
    ]
    for text in others:
        done = port_files(tmp_path, {"a.py": HEAD + text}).after["a.py"].text
        assert "torch.cuda.Stream(rank" in done
        assert "with torch.cuda.stream(self.stream):" in done


def test_a_stream_that_another_file_may_read_is_left(tmp_path: Path) -> None:
    reads = "def handle(one):\n    return one.stream.cuda_stream\n"
    done = port_files(tmp_path, {"a.py": HEAD + PREFETCHER, "b.py": reads})
    assert "self.stream = torch.cuda.Stream()" in done.after["a.py"].text
    mentions = HEAD + PREFETCHER + "\n\ndef handle(one):\n    return one.stream\n"
    done = port_files(tmp_path, {"a.py": mentions})
    assert "self.stream = torch.cuda.Stream()" in done.after["a.py"].text


@pytest.mark.parametrize("flag", ["blocking", "interprocess"])
def test_an_event_with_flags_that_torch_ignores_is_left(tmp_path: Path, flag: str) -> None:
    check_port(tmp_path, f"import torch\n\nevent = torch.cuda.Event(enable_timing=True, {flag}=True)\n")
    check_port(
        tmp_path,
        "import torch\n\nevent = torch.cuda.Event(enable_timing=True)\n"
        "# becomes\nimport torch\n\nevent = torch.Event(enable_timing=True)\n",
    )


def test_the_methods_are_those_of_both_classes() -> None:
    for name in _METHODS:
        assert hasattr(torch.Stream, name)
        assert hasattr(torch.cuda.Stream, name)
    assert hasattr(torch.Stream, "__enter__")
