"""The engine: an analysis that can run the files of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from devlint.flow import modules
from devlint.flow.code.program import Program
from devlint.flow.events import Event
from devlint.flow.observation import Observer
from devlint.flow.path.analysis import Analysis, InternalError, Unread
from devlint.flow.path.run import Run, evaluators

__all__ = ["Engine", "InternalError", "Unread"]


class Engine(Analysis):
    """One analysis. Entries into the program are made by `devlint.flow.entries`.

    `listener` hears the events; `observer` is shown the values, where anybody wants to see them.
    """

    module_run = modules.module_run
    global_name = modules.global_name
    member = modules.member

    def __init__(
        self,
        program: Program,
        listener: Callable[[Event], None],
        models: Sequence[Path] = (),
        observer: Observer[Run] | None = None,
    ) -> None:
        super().__init__(program, listener, models, observer, evaluators(observer))
