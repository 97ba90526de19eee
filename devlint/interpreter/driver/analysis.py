"""The analysis object: the state that all frames share, with the methods that run the program's modules."""

from __future__ import annotations

from collections.abc import Callable

from devlint.interpreter.driver import module_execution
from devlint.interpreter.state.analysis_state import AnalysisState
from devlint.interpreter.state.events import Event
from devlint.interpreter.state.frame import Frame, expression_handlers
from devlint.interpreter.state.observation import Observer
from devlint.interpreter.state.program_facts import ProgramFacts


class Analysis(AnalysisState):
    """The analysis of one file of a program; `devlint.interpreter.driver.entry_points` has the functions that start it.

    `listener` receives the events that rules report on; `observer`, if given, is shown the value of each expression.
    """

    module_frame = module_execution.module_frame
    global_name = module_execution.global_name
    module_member = module_execution.module_member

    def __init__(
        self,
        facts: ProgramFacts,
        listener: Callable[[Event], None],
        observer: Observer[Frame] | None = None,
    ) -> None:
        super().__init__(facts, listener, observer, expression_handlers(observer))
