"""What is remembered from look to look must never show: a session sees what one that has just begun sees."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import pytest

from devlint.diagnostic import Diagnostic
from devlint.server.preferences import Book, Preferences
from devlint.server.session import Job, Look, Session, Ticket

LAYERS = """import torch
from torch import nn

SCALE = torch.ones(3)
CACHE = {}

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.offset = torch.zeros(width)

    def forward(self, x):
        return self.layer(x) + shift(x)

def shift(x: torch.Tensor):
    return torch.ones(3)

def cached(x: torch.Tensor):
    if "x" not in CACHE:
        CACHE["x"] = torch.arange(3)
    return x + CACHE["x"]
"""

MAIN = """import torch
import layers
from layers import Block, shift as moved

PLACE = "cuda"
COUNT = 0

def count():
    global COUNT
    COUNT = torch.zeros(1)

def helper(x: torch.Tensor):
    mask = torch.zeros(3)
    return x * mask

def main():
    model = Block(3).to(PLACE)
    data = torch.rand(3)
    model(data)
    helper(data.to(PLACE))
    count()
    print(data.to(PLACE) + moved(data), layers.SCALE, COUNT)

if __name__ == "__main__":
    main()
"""

EDITS = [
    ('PLACE = "cuda"', 'PLACE = "cpu"'),
    ('PLACE = "cpu"', 'PLACE = "cuda"'),
    ("torch.zeros(3)", "torch.zeros(3, device=x.device)"),
    ("torch.zeros(3, device=x.device)", "torch.zeros(3)"),
    ("return torch.ones(3)", "return torch.ones_like(x)"),
    ("return torch.ones_like(x)", "return torch.ones(3)"),
    ("data = torch.rand(3)", "data = torch.rand(3, device=PLACE)"),
    ("data = torch.rand(3, device=PLACE)", "data = torch.rand(3)"),
    ("self.offset = torch.zeros(width)", "self.register_buffer('offset', torch.zeros(width))"),
    ("+ shift(x)", "+ self.offset"),
    ("+ self.offset", "+ shift(x)"),
    ("main()\n", "main()\ntorch.set_default_device('cuda')\n"),
    ("torch.set_default_device('cuda')\n", ""),
    ("def helper", "def other(x: torch.Tensor):\n    return x + SCALE\n\ndef helper"),
    ("from layers import Block", "from layers import SCALE, Block"),
    ("import layers\n", "import layers\nfrom layers import *\n"),
    ("torch.arange(3)", "torch.arange(3, device=x.device)"),
    ("COUNT = torch.zeros(1)", "COUNT = 1"),
    ("def shift", "\n\ndef shift"),
    ("return x * mask", "return (x * mask"),
    ("return (x * mask", "return x * mask"),
    ("class Block", "@decorated\nclass Block"),
    ("@decorated\n", ""),
]


@pytest.fixture
def program(tmp_path) -> dict[Path, str]:
    return {tmp_path.resolve() / "layers.py": LAYERS, tmp_path.resolve() / "main.py": MAIN}


def _nothing(*_: object) -> None: ...


def _look(session: Session, program: dict[Path, str], closed: frozenset[Path] = frozenset()) -> Look:
    """One look at the program, some of whose files are not open, but are to be reported all the same."""
    book = Book({}, Preferences(), pytest.fail)
    settings = {path: book.settings(path) for path in program}
    texts = {path: text for path, text in program.items() if path not in closed}
    for path in closed:
        path.write_text(program[path])
    opened = {path: settings[path] for path in texts}
    look = session.look(Job(texts, opened, survey=lambda: settings), Ticket(), _nothing, _nothing)
    assert look is not None
    assert look.is_whole
    assert not look.errors
    return look


def _found(look: Look) -> list[Diagnostic]:
    return [one for path in sorted(look.views) for one in look.views[path].diagnostics]


def _facts(look: Look) -> list[tuple[int, int, str, tuple[str, ...]]]:
    return [
        (one.start, one.end, one.fact.code, tuple(sorted(account.text for account in one.fact.accounts)))
        for path in sorted(look.views)
        for one in look.views[path].facts
    ]


@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_by_a_new_session(program: dict[Path, str], seed: int):
    chance, session = random.Random(seed), Session()
    assert _found(_look(session, program))
    for _ in range(12):
        path = chance.choice([*program])
        fitting = [edit for edit in EDITS if edit[0] in program[path]]
        old, new = chance.choice(fitting)
        program[path] = program[path].replace(old, new, 1)
        look = _look(session, program)
        if "(x * mask" in "".join(program.values()):
            continue  # a session that has just begun knows nothing of how the text was when it parsed
        fresh = _look(Session(), program)
        assert _found(look) == _found(fresh)
        assert _facts(look) == _facts(fresh)


@pytest.mark.parametrize("seed", range(4))
def test_files_that_are_opened_and_closed(program: dict[Path, str], seed: int):
    chance, session = random.Random(seed), Session()
    for _ in range(12):
        closed = frozenset(path for path in program if chance.random() < 0.5)
        path = chance.choice([*program])
        old, new = chance.choice([edit for edit in EDITS if edit[0] in program[path] and "(x * mask" not in edit[1]])
        program[path] = program[path].replace(old, new, 1)
        look, fresh = _look(session, program, closed), _look(Session(), program, closed)
        assert _found(look) == _found(fresh)
        assert _facts(look) == _facts(fresh)
        assert not any(look.views[one].facts for one in closed)


def test_open_files_come_first(program: dict[Path, str]):
    closed = next(iter(program)).parent / "closed.py"
    closed.write_text(MAIN)
    book = Book({}, Preferences(), pytest.fail)
    settings = {path: book.settings(path) for path in (*program, closed)}
    opened = {path: settings[path] for path in program}
    told: list[tuple[bool, bool, int]] = []

    def tell(look: Look, done: bool) -> None:
        told.append((look.is_whole, done, len(look.views)))

    session, job = Session(), Job(program, opened, survey=lambda: settings)
    session.look(job, Ticket(), tell, _nothing)
    assert told == [(False, False, 2), (False, True, 2), (True, False, 3)]
    session.look(job, Ticket(), tell, _nothing)
    assert told[3:] == [(True, False, 3)], "once all is known, it is told together"


def test_a_look_called_off_leaves_nothing_wrong(program: dict[Path, str]):
    session, ticket = Session(), Ticket()
    ticket.stop()
    book = Book({}, Preferences(), pytest.fail)
    settings = {path: book.settings(path) for path in program}
    assert session.look(Job(program, settings), ticket, _nothing, _nothing) is None
    assert _found(_look(session, program)) == _found(_look(Session(), program))


def test_memory_stays_flat(program: dict[Path, str]):
    session, path = Session(), next(iter(program))
    first = program[path]

    def objects_after(number: int) -> int:
        for step in range(number):
            program[path] = first.replace("torch.zeros(width)", f"torch.zeros({step} + width)")
            _look(session, program)
        gc.collect()
        return len(gc.get_objects())

    before = objects_after(8)
    assert objects_after(24) < before * 1.1
