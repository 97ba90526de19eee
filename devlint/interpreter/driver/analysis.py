"""The analysis that can run the files of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from devlint.interpreter.driver import module_execution
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.analysis_state import AnalysisState, InternalError, UnparsedStatement
from devlint.interpreter.state.events import Event
from devlint.interpreter.state.frame import Frame, expression_handlers
from devlint.interpreter.state.observation import Observer

__all__ = ["Analysis", "InternalError", "UnparsedStatement"]


class Analysis(AnalysisState):
    """One analysis. Entries into the program are made by `devlint.interpreter.driver.entry_points`.

    `listener` hears the events; `observer` is shown the values, where anybody wants to see them.
    """

    module_frame = module_execution.module_frame
    global_name = module_execution.global_name
    module_member = module_execution.module_member

    def __init__(
        self,
        program: Program,
        listener: Callable[[Event], None],
        models: Sequence[Path] = (),
        observer: Observer[Frame] | None = None,
    ) -> None:
        super().__init__(program, listener, models, observer, expression_handlers(observer))
