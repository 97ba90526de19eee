"""What replaces the names of CUDA, against the torch that is installed."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch
import torch.distributed

from devlint.runtime.derive.accelerator_names import (
    MODULES,
    TorchSources,
    names_in,
    release_ranges,
    version_of,
)
from devlint.semantics import accelerators
from devlint.semantics.accelerators import Kind, Replacement, replacements_of

FIGURES = ("device_count", "memory_allocated", "max_memory_reserved", "memory_cached", "memory_stats")
INSTALLED = tuple(map(int, torch.__version__.split(".")[:2]))


def resolved(name: str) -> object:
    """Return what a qualified name stands for in the installed torch."""
    found: object = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_the_names_are_those_of_the_installed_torch(module: str):
    have = {name for name in dir(importlib.import_module(module)) if not name.startswith("_")}
    said = {
        name
        for name in accelerators.names_in(module)
        if (found := accelerators.releases_of(f"{module}.{name}")) and found.first <= INSTALLED
    }
    if module == "torch.cuda":
        have = {name for name in have if not name.endswith("Tensor")}  # C++ makes these types
    assert have - said == set()


def test_what_replaces_a_name_is_in_the_installed_torch():
    for one in accelerators.all_replacements():
        if one.since > INSTALLED:
            continue
        for name in re.findall(r"torch(?:\.\w+)+", one.by):
            resolved(name)
        if one.kind is Kind.DEVICE_MODULE:
            function = one.by.rpartition(".")[2]
            assert hasattr(torch.cuda, function)
            for backend in accelerators.BACKENDS:
                module = torch.get_device_module(backend)
                assert hasattr(module, function) == (backend not in one.lacking), (one.name, backend)


def test_what_is_replaced_is_in_the_installed_torch():
    for one in accelerators.all_replacements():
        if one.name != "nccl":
            resolved(one.name)


def test_what_nothing_replaces_is_in_some_torch_and_has_no_replacement():
    for name, reason in accelerators.all_without_equivalent().items():
        assert reason
        assert not replacements_of(name)
        if name.startswith("torch.cuda.") and "._" not in name:  # the data describe public names
            assert accelerators.releases_of(name), name


def test_every_public_function_of_cuda_has_a_replacement_or_a_reason():
    public = {f"torch.cuda.{name}" for name in torch.cuda.__all__}
    modules = {"torch.cuda.memory", "torch.cuda.random", "torch.cuda.streams", "torch.cuda.amp", "torch.cuda.sparse"}
    silent = {
        name
        for name in public - modules
        if not replacements_of(name)
        and accelerators.reason_without_equivalent(name) is None
        and not name.endswith(("Storage", "Complex"))
    }
    # The class of what the function `stream` returns, and another name of `torch.OutOfMemoryError`.
    assert silent - {"torch.cuda.OutOfMemoryError"} == {"torch.cuda.StreamContext"}


def test_another_name_of_what_serves_every_accelerator_is_not_replaced():
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
    for one in accelerators.all_replacements():
        if one.name.startswith("torch.cuda.") and re.fullmatch(r"torch(\.\w+)+", one.by) and one.since <= INSTALLED:
            assert resolved(one.name) is not resolved(one.by), one.name


ARGUMENTS = {
    "set_device": (0,),
    "device": (0,),
    "device_of": (torch.ones(1),),
    "can_device_access_peer": (0, 1),
    "manual_seed": (torch.initial_seed(),),
    "manual_seed_all": (torch.initial_seed(),),
    "set_rng_state": (torch.get_rng_state(),),
    "set_rng_state_all": ([],),
    "set_per_process_memory_fraction": (0.5,),
}
"""What the functions of `torch.cuda` that need an argument are given."""


def outcome(module: object, name: str) -> str | None:
    """Return what a function returns on this machine, as text; None if it raises or the module lacks it."""
    try:
        result = getattr(module, name)(*ARGUMENTS.get(name, ()))
        if hasattr(result, "__enter__"):
            with result:
                return "a context that does nothing"
    except Exception:
        return None
    return {"OrderedDict()": "{}"}.get(repr(result), repr(result))


@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
@pytest.mark.parametrize(
    "one",
    [one for one in accelerators.all_replacements() if one.kind in (Kind.FUNCTION, Kind.DEVICE_MODULE)],
    ids=lambda one: one.name,
)
def test_the_data_say_where_a_replacement_does_something_else_on_the_host(one: Replacement):
    if torch.accelerator.current_accelerator() is not None:
        pytest.skip("torch is built for an accelerator")
    name = one.name.rpartition(".")[2]
    old = outcome(torch.cuda, name)
    if one.kind is Kind.DEVICE_MODULE:
        new = outcome(torch.get_device_module("cpu"), name)
    else:
        holder, _, member = one.by.rpartition(".")
        new = outcome(resolved(holder), member)
    if name in ("Event", "Stream", "set_stream", "manual_seed", "manual_seed_all"):
        assert one.result_without is None  # made from what fails before, or returning a generator that nobody uses
    else:
        assert one.result_without == (old if new != old else None)
    if accelerators.needs_cuda(one.name):
        assert old is None


@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
@pytest.mark.parametrize("name", ["empty_cache", "seed", "seed_all", "get_rng_state_all", "is_initialized", *FIGURES])
def test_what_nobody_misses_returns_nothing_without_cuda(name: str):
    if torch.cuda.is_available():
        pytest.skip("there is CUDA")
    assert accelerators.is_figure_without_cuda(f"torch.cuda.{name}") is (name in FIGURES)
    assert accelerators.is_idle_without_cuda(f"torch.cuda.{name}") is (name not in FIGURES)
    assert not getattr(torch.cuda, name)()
    assert not accelerators.needs_cuda(f"torch.cuda.{name}")


def test_what_an_old_torch_lacks_is_left_out():
    name = "torch.cuda.max_memory_allocated"
    assert [one.by for one in replacements_of(name, (2, 9))] == ["torch.accelerator.max_memory_allocated"]
    assert replacements_of(name, (2, 8)) == []
    assert [one.by for one in replacements_of("torch.cuda.memory.max_memory_allocated", (2, 9, 1))]


def test_each_backend_that_lacks_a_function_is_named():
    (one,) = replacements_of("torch.cuda.get_device_name")
    assert one.since == (2, 4)
    assert one.lacking == ("mps", "mtia", "cpu")


def test_a_name_in_a_module_without_an_equivalent_has_the_reason_of_the_module():
    assert "NVTX" in (accelerators.reason_without_equivalent("torch.cuda.nvtx.range_push") or "")
    assert accelerators.reason_without_equivalent("torch.cuda.synchronize") is None


@pytest.mark.parametrize("text", ["2", "new", ">=2.6", ""])
def test_a_version_that_is_none_is_refused(text: str):
    with pytest.raises(ValueError, match="expected a version of torch"):
        accelerators.parse_version(text)


def test_wheels_are_read_without_importing_them(tmp_path: Path):
    wheels = []
    for version, text in (
        ("2.6.0", "def old(): ...\ndef both(): ..."),
        ("2.7.0", "from .memory import *\ndef both(): ..."),
    ):
        wheel = tmp_path / f"torch-{version}-cp311-none-any.whl"
        with ZipFile(wheel, "w") as archive:
            archive.writestr("torch/accelerator/__init__.py", text)
            archive.writestr(
                "torch/accelerator/memory.py", "if True:\n    new = _hidden = 1" if "2.7" in version else ""
            )
        wheels.append(wheel)
    found = {version_of(wheel): names_in(TorchSources.of_wheel(wheel)) for wheel in wheels}
    ranges = release_ranges(found)
    assert ranges["torch.accelerator.old"] == "2.6-2.6"
    assert ranges["torch.accelerator.both"] == "2.6"
    assert ranges["torch.accelerator.new"] == "2.7"
    assert "torch.accelerator._hidden" not in ranges
