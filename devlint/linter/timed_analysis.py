"""An analysis of a file that measures how long each of its definitions takes, for `--profile`."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.state.analysis_state import ContainedErrors
from devlint.interpreter.state.events import Event
from devlint.interpreter.state.observation import Observer
from devlint.interpreter.state.program_facts import ProgramFacts

TOP_LEVEL: Final = "top level"
"""The name for the statements of a file that are no definitions, with what they run."""
_TOP_LEVEL_PIECE: Final = "module"
"""What the interpreter calls a statement of the top level of any file where it contains errors."""


class TimedAnalysis(Analysis):
    """An analysis that adds the processor time of each definition to `seconds`, by the definition's name.

    The interpreter contains errors in each piece of the program that it analyses, and names the piece. Inside of the
    file, the outermost pieces are its definitions, and the next ones inside of a class are its methods: their time does
    not count for the class. What a definition calls counts for the definition.
    """

    def __init__(
        self, facts: ProgramFacts, listener: Callable[[Event], None], observer: Observer[Any] | None = None
    ) -> None:
        super().__init__(facts, listener, observer)
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.pieces: list[str] = []
        """The names of the pieces that are being analysed, the outermost first: that is the file."""

    def contain_errors(self, filename: str, where: str) -> ContainedErrors:
        """Contain the errors in a piece of the program, and measure the time that it takes."""
        return _TimedPiece(self, filename, TOP_LEVEL if where == _TOP_LEVEL_PIECE else where)


class _TimedPiece(ContainedErrors):
    """A piece of the program in which errors are contained and whose time is measured."""

    __slots__ = ("_began", "_timed", "_where_timed")

    def __init__(self, analysis: TimedAnalysis, filename: str, where: str) -> None:
        super().__init__(analysis, filename, where)
        self._timed, self._where_timed = analysis, where
        self._began = 0.0

    def __enter__(self) -> None:
        self._timed.pieces.append(self._where_timed)
        self._began = time.process_time()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        taken = time.process_time() - self._began
        pieces, seconds = self._timed.pieces, self._timed.seconds
        where = pieces.pop()
        if len(pieces) == 1:
            seconds[where] += taken
        elif len(pieces) == 2 and pieces[1] not in (where, TOP_LEVEL):
            seconds[where] += taken
            seconds[pieces[1]] -= taken
        return super().__exit__(kind, error, trace)
