"""Programs that a slip of the hand has changed: whatever they mean now, devlint gets to their end."""

from __future__ import annotations

import ast
import keyword
import random
import re
from pathlib import Path

import pytest

import devlint

pytestmark = pytest.mark.usefixtures("outside_of_a_project")
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
SLIPS = 3
"""Changed programs that each page of the fixtures gives."""
NAMES = re.compile(r"\b[A-Za-z_]\w*\b")
BLOCKS = "if x:|while x:|for x in x:|with x as x:|def x(x=x, *args, **kwargs):|class x(x):|async def f():".split("|")
THINGS = (
    "x|self|None|True|0|1.5|'cuda'|[]|()|{}|torch|nn|torch.zeros(3)|x.to('cuda')|lambda: x|*x|-1|...|(yield)|(x := 1)|"
    "not x|x[0]|x[::2]|[y for y in x]|f'{x}'|super()|print|dict|zip|map|range(3)|np.array([1.0])|nn.Linear|1j|'é'"
).split("|")


def slip(lines: list[str], chance: random.Random) -> None:
    """Change a program in one place."""
    here, there = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.choice(("lose", "repeat", "swap", "end", "block", "thing", "name", "operator")):
        case "lose" if len(lines) > 1:
            del lines[here]
        case "repeat":
            lines.insert(there, lines[here])
        case "swap":
            lines[here], lines[there] = lines[there], lines[here]
        case "end":
            del lines[max(1, here) :]
        case "block":
            begun = len(lines[here]) - len(lines[here].lstrip())
            lines[here : here + 1] = [" " * begun + chance.choice(BLOCKS), "    " + lines[here]]
        case "thing":
            lines[here] = _renamed(lines[here], chance.choice(THINGS), chance)
        case "name":
            names = [name for name in NAMES.findall(lines[there]) if not keyword.iskeyword(name)]
            lines[here] = _renamed(lines[here], chance.choice(names or ["x"]), chance)
        case "operator":
            lines[here] = re.sub(r"[-+*/@=]", chance.choice("+-*/@%"), lines[here], count=1)


def _renamed(line: str, other: str, chance: random.Random) -> str:
    found = [one for one in NAMES.finditer(line) if not keyword.iskeyword(one[0])]
    if not found:
        return line
    one = chance.choice(found)
    return line[: one.start()] + other + line[one.end() :]


def changed(text: str, chance: random.Random) -> str:
    """The program after some slips that have left it Python."""
    for _ in range(20):
        lines = text.split("\n")
        for _ in range(chance.choice((1, 1, 2, 4))):
            slip(lines, chance)
        try:
            ast.parse("\n".join(lines))
        except (SyntaxError, ValueError):
            continue
        return "\n".join(lines)
    return text


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("page", sorted(FIXTURES.rglob("*.md")), ids=lambda page: page.relative_to(FIXTURES).as_posix())
def test_no_program_is_too_odd(page):
    programs = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    chance = random.Random(page.name)
    for text in chance.sample(programs, min(SLIPS, len(programs))):
        program = changed(text, chance)
        result = devlint.check_source(program, "odd.py", select=["ALL"], isolated=True)
        assert [f"{error.where}: {error.message}\n{error.traceback}" for error in result.errors] == [], program
