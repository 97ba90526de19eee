"""The engine: an analysis that can run the files of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from devlint.interpreter.driver import module_execution
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.analysis_state import Analysis, InternalError, Unread
from devlint.interpreter.state.events import Event
from devlint.interpreter.state.frame import Run, evaluators
from devlint.interpreter.state.observation import Observer

__all__ = ["Engine", "InternalError", "Unread"]


class Engine(Analysis):
    """One analysis. Entries into the program are made by `devlint.interpreter.driver.entry_points`.

    `listener` hears the events; `observer` is shown the values, where anybody wants to see them.
    """

    module_run = module_execution.module_run
    global_name = module_execution.global_name
    member = module_execution.member

    def __init__(
        self,
        program: Program,
        listener: Callable[[Event], None],
        models: Sequence[Path] = (),
        observer: Observer[Run] | None = None,
    ) -> None:
        super().__init__(program, listener, models, observer, evaluators(observer))
