"""A grower of statements: it fills templates at random, runs what it gets, and keeps the statements that run."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import torch

from devlint.runtime.error_reports import code_for
from generated.live_values import Definitions, Namespace, Parameters, Pool, Snapshot, pool_of
from generated.statement_templates import ARRAYS, COMPOUNDS, CONDITIONS, EXPRESSIONS, STATEMENTS, WHOLE
from generated.time_limit import TooLong, time_limit

FIELD = re.compile(r"\{\{|\}\}|\{(\w+?)(0*)\}")
DEVICES = ('"cuda"', '"cuda"', '"cuda"', '"cpu"', '"cuda:0"', '"cuda:1"', 'torch.device("cuda")', 'torch.device("cpu")')
DTYPES = ("torch.float32", "torch.float32", "torch.float64", "torch.float16", "torch.int64")
TRIES = 25
GROWING = "<growing>"
"""The file name of statements that are tried while a program grows."""
SECONDS = 0.25
"""The processor time that one statement may take: a loop may append to the list that it walks."""


class Unfit(Exception):
    """A template asks for a kind of value that the program does not have."""


def indented(lines: Sequence[str]) -> list[str]:
    """Return lines one level deeper."""
    return [f"    {line}" for line in lines]


class Grower:
    """Grows the statements of one program, each of which is run at once in a live namespace.

    The namespace guides the growth and does not judge: the finished program is run again from its beginning.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.own = Definitions()
        self._count = 0

    def new_name(self, letters: str = "t") -> str:
        """Return a name that the program does not have yet."""
        self._count += 1
        return f"{letters}{self._count}"

    # -- statements

    def block(self, names: Namespace, count: int, own_names: set[str] | None, depth: int = 0) -> list[str]:
        """Return `count` statements that run in `names`, which they change; some ask for placements.

        `own_names` are the variables that the statements may assign to; None stands for all.
        """
        lines: list[str] = []
        for _ in range(count):
            lines += self.statement(names, own_names, depth) or []
            if self.rng.random() < 0.3:
                lines += self.question(names)
        return lines or ["pass"]

    def statement(self, names: Namespace, own_names: set[str] | None, depth: int) -> list[str] | None:
        """Return one statement that runs; None if none was found."""
        pool, before = pool_of(names, self.own), Snapshot(names, self.own)
        for _ in range(TRIES):
            lines = self.candidate(names, own_names, depth, pool, before)
            if lines is not None and self.attempt(names, lines, own_names, before) is None:
                return lines
        return None

    def failing_statement(self, names: Namespace, own_names: set[str] | None) -> list[str] | None:
        """Return a statement that raises an error which some rule is about; rare kinds of errors are preferred."""
        found: list[tuple[str, list[str]]] = []
        wanted, deep = self.rng.choice((1, 2, 4, 6)), self.rng.random() < 0.5
        pool, before = pool_of(names, self.own), Snapshot(names, self.own)
        for _ in range(80):
            lines = self.candidate(names, own_names, 0, pool, before)
            if lines is None or (deep and len(lines) == 1 and not self._calls(lines[0])):
                continue
            error = self.attempt(names, lines, own_names, before, keep=False)
            code = code_for(str(error)) if error is not None else None
            if code is not None:
                found.append((code, lines))
                if len(found) == wanted:
                    break
        if not found:
            return None
        codes = sorted({code for code, _ in found})
        codes.sort(key=lambda code: (code == "DEV101", self.rng.random()))
        return self.rng.choice([lines for code, lines in found if code == codes[0]])

    def _calls(self, line: str) -> bool:
        """Return whether a line calls a function, method or object of the program."""
        return any(f"{name}(" in line for name in (*self.own.functions, *self.own.classes)) or "net" in line

    def question(self, names: Namespace) -> list[str]:
        """Return a call of `reveal_placement` for a tensor or an array."""
        pool = pool_of(names, self.own)
        one = pool.pick(self.rng, self.rng.choice("vttfa"))
        return [] if one is None else [f"reveal_placement({one[0]})"]

    def attempt(
        self,
        names: Namespace,
        lines: Sequence[str],
        own_names: set[str] | None,
        before: Snapshot | None = None,
        *,
        keep: bool = True,
    ) -> BaseException | None:
        """Run statements in a namespace, and keep the names that they bind if they run; else return the error.

        `before` is a snapshot of the namespace as it is.
        """
        scratch, before = dict(names), before or Snapshot(names, self.own)
        try:
            with time_limit(SECONDS, frozenset({GROWING})):
                exec(compile("\n".join(lines), GROWING, "exec"), scratch)
        except (Exception, TooLong) as error:
            before.restore()
            return error
        if not keep:
            before.restore()
        else:
            if own_names is not None:
                own_names |= {name for name, value in scratch.items() if names.get(name, self) is not value}
            names.update(scratch)
        return None

    def candidate(
        self, names: Namespace, own_names: set[str] | None, depth: int, pool: Pool, before: Snapshot
    ) -> list[str] | None:
        """Return a random statement, which may or may not run; None if a template did not fit.

        `pool` and `before` are the pool and a snapshot of the namespace as it is.
        """
        what = self.rng.random()
        try:
            filler = Filler(self, names, own_names, pool)
            if depth < 2 and what < 0.13:
                return self._conditional(names, own_names, depth)
            if depth < 2 and what < 0.22:
                return self._compound(filler.fill(self.rng.choice(COMPOUNDS)), names, own_names, depth)
            if what < 0.37:
                return [filler.fill(line) for line in self.rng.choice(WHOLE)]
            return [filler.fill(self.rng.choice(STATEMENTS))]
        except Unfit:
            return None
        finally:
            if what < 0.22:
                before.restore()

    def _compound(self, head: str, names: Namespace, own_names: set[str] | None, depth: int) -> list[str] | None:
        """Return a loop or a `with` statement, whose body is grown for the first iteration."""
        scratch, inner = dict(names), None if own_names is None else set(own_names)
        ending = "break" if head.startswith("for") else "pass"
        if self.attempt(scratch, [head, f"    {ending}"], inner) is not None:
            return None
        body = self.block(scratch, self.rng.randint(1, 3), inner, depth + 1)
        if ending == "break" and self.rng.random() < 0.15:
            body += [f"if {Filler(self, scratch, inner).condition()}:", f"    {self.rng.choice(('break', 'continue'))}"]
        return [head, *indented(body)]

    def _conditional(self, names: Namespace, own_names: set[str] | None, depth: int) -> list[str]:
        """Return an `if` or `try` statement: the branch that is not taken may hold anything."""
        text = Filler(self, names, own_names).condition()
        alive = self._is_true(names, text)
        branches = [self._branch(names, own_names, depth, alive=alive)]
        lines = [f"if {text}:", *indented(branches[0])]
        if self.rng.random() < 0.3:
            second = Filler(self, names, own_names).condition()
            alive_too = not alive and self._is_true(names, second)
            lines += [f"elif {second}:", *indented(self._branch(names, own_names, depth, alive=alive_too))]
            alive = alive or alive_too
        if self.rng.random() < 0.5:
            lines += ["else:", *indented(self._branch(names, own_names, depth, alive=not alive))]
        if self.rng.random() < 0.12:
            handler = self._branch(names, own_names, depth, alive=False)
            errors = self.rng.choice(("RuntimeError", "(RuntimeError, TypeError)", "Exception"))
            lines = ["try:", *indented(lines), f"except {errors}:", *indented(handler)]
        return lines

    def _is_true(self, names: Namespace, text: str) -> bool:
        """Return the truth of a condition right now; an error counts as false."""
        try:
            return bool(eval(text, dict(names)))
        except Exception:
            return False

    def _branch(self, names: Namespace, own_names: set[str] | None, depth: int, *, alive: bool) -> list[str]:
        """Return the statements of a branch; in one that is not taken, statements need not run."""
        scratch, inner = dict(names), None if own_names is None else set(own_names)
        count = self.rng.randint(1, 2)
        if alive or self.rng.random() < 0.4:
            return self.block(scratch, count, inner, depth + 1)
        lines: list[str] = []
        for _ in range(count):
            pool, before = pool_of(scratch, self.own), Snapshot(scratch, self.own)
            lines += self.candidate(scratch, inner, depth + 1, pool, before) or []
        return lines or ["pass"]


class Filler:
    """Fills templates with expressions of a namespace, and remembers what it filled in."""

    def __init__(self, grower: Grower, names: Namespace, own_names: set[str] | None, pool: Pool | None = None) -> None:
        self.grower, self.rng = grower, grower.rng
        self.pool = pool or pool_of(names, grower.own)
        if own_names is not None:
            self.pool.preferred = frozenset({*own_names, "self"})
            self.pool.by_kind["v"] = [one for one in self.pool.by_kind.get("v", ()) if one[0] in own_names]
        self.used: dict[str, list[str]] = {}
        self.like: torch.Tensor | None = None
        self.dict: dict[str, Any] | None = None
        self.depth = 0

    def fill(self, template: str) -> str:
        """Return a template with an expression in place of each field."""
        return FIELD.sub(self._field, template)

    def condition(self) -> str:
        """Return a random condition; Unfit if the first that was tried does not fit, ten times over."""
        return self._one_of(CONDITIONS)

    def _one_of(self, templates: Sequence[str]) -> str:
        for _ in range(10):
            try:
                return self.fill(self.rng.choice(templates))
            except Unfit:
                continue
        raise Unfit

    def _field(self, found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        kind, back = found[1], len(found[2])
        if back:
            return self.used[kind][-back]
        text = self._text(kind)
        self.used.setdefault(kind, []).append(text)
        return text

    def _text(self, kind: str) -> str:
        """Return an expression of a kind, or raise Unfit."""
        match kind:
            case "n":
                return self.grower.new_name()
            case "E":
                self.depth += 1
                if self.depth > 4:
                    raise Unfit
                return self._one_of(EXPRESSIONS)
            case "A":
                return self._one_of(ARRAYS)
            case "B":
                return self._one_of(CONDITIONS)
            case "dev":
                return self._device()
            case "dev2":
                return self.rng.choice(('("cpu", "cuda")', '["cuda", "cuda"]', '("cuda:0", "cuda:1")'))
            case "typ":
                own = self.pool.by_kind.get("y", [])
                return self.rng.choice((*DTYPES, *(text for text, _ in own), *(text for text, _ in own)))
            case "K":
                return repr(self.rng.choice(list(self.dict))) if self.dict else self.rng.choice(("0", "1", "-1"))
            case "call":
                return self._call("F")
            case "new":
                return self._call("C")
        like = self.like if kind in "ftv" else None
        picked = self.pool.pick(self.rng, kind, like)
        if picked is None:
            raise Unfit
        text, value = picked
        if isinstance(value, torch.Tensor) and (kind in "fv" or self.like is None):
            self.like = value
        if kind in "DL":
            self.dict = value if kind == "D" else None
        return text

    def _device(self) -> str:
        """Return an expression for a device."""
        own = [text for text, _ in self.pool.by_kind.get("d", [])]
        own += [text for text, value in self.pool.by_kind.get("w", []) if value[:3] in ("cpu", "cud")]
        if own and self.rng.random() < 0.5:
            return self.rng.choice(own)
        if self.rng.random() < 0.2:
            tensor = self.pool.pick(self.rng, "t")
            if tensor is not None:
                return f"{tensor[0]}.device"
        return self.rng.choice(DEVICES)

    def _call(self, kind: str) -> str:
        """Return a call of a function or class of the program with random arguments."""
        self.depth += 1
        picked = self.pool.pick(self.rng, kind)
        if picked is None or self.depth > 4:
            raise Unfit
        text, parameters = picked
        return f"{text}({', '.join(self._arguments(parameters))})"

    def _arguments(self, parameters: Parameters) -> list[str]:
        """Return arguments for parameters; those that may be left out often are, and are passed by name else."""
        given: list[str] = []
        by_name = False
        for name, kind in parameters:
            if kind.endswith("="):
                by_name = True
                if self.rng.random() < 0.5:
                    continue
            if name.startswith("**"):
                given += [f"{key}={self._text('f')}" for key in ("a", "b")[: self.rng.randint(1, 2)]]
            elif name.startswith("*"):
                given += [self._text("f") for _ in range(self.rng.randint(1, 2))]
            else:
                text = self._argument(kind.rstrip("="))
                given.append(f"{name}={text}" if by_name else text)
        return given

    def _argument(self, kind: str) -> str:
        """Return one argument of a kind; `x` stands for a tensor or a container of tensors."""
        match kind:
            case "x":
                return self._text(self.rng.choice([one for one in "tfLDU" if self.pool.by_kind.get(one)] or "t"))
            case "b":
                return self.rng.choice(("True", "False", self._text("b") if self.pool.by_kind.get("b") else "True"))
            case "w":
                return self.rng.choice(('"cuda"', '"cpu"', '"train"', '"half"'))
            case "d":
                return self._text("dev")
            case "y":
                return self._text("typ")
            case "f" if self.rng.random() < 0.25:
                return self._text("E")
        return self._text(kind)
