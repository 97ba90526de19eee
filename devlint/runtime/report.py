"""What a recording saw, ready to be read: tables of transfers and waits by line, and findings."""

from __future__ import annotations

from dataclasses import dataclass

from devlint.runtime.recorder import LineRecord, Observation, Recorder


@dataclass(slots=True)
class Report:
    """A view of a recorder; complete once the recording is over."""

    recorder: Recorder
