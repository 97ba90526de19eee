"""All that can be mended in one open text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from devlint.analysis import room_to_work
from devlint.checking import Outcome, check
from devlint.discovery import Found
from devlint.repair.document import Document
from devlint.repair.rounds import applicable, repair
from devlint.server.session import Job
from devlint.syntax.source import encoded_source


def mended(job: Job, path: Path) -> str | None:
    """The text of a file after all safe fixes that go together and help; None for one that is not looked at."""
    if path not in job.settings or path.suffix == ".ipynb":
        return None
    files = [Found(one, one.as_posix(), settings) for one, settings in job.settings.items()]
    documents = {one.as_posix(): Document(one.as_posix(), encoded_source(text)) for one, text in job.texts.items()}
    name = path.as_posix()
    own = {name: documents[name]}

    def look(attempt: Mapping[str, Document]) -> Outcome:
        return check(files, texts={key: one.data for key, one in {**documents, **attempt}.items()})

    with room_to_work():
        return repair(own, look(own), look, applicable(unsafe=False)).documents[name].text
