"""The page docs/gallery.md, made from the entries."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gallery_bug import Bug, entry_at, entry_paths

PAGE: Final = Path(__file__).parents[2] / "docs" / "gallery.md"

_TOP: Final = """\
# Gallery: real bugs in public projects

devlint found these {count} bugs in {projects} public projects by reading the code. None was planted. Each is in the
commit or in the release named here, and each is shown by a run: a short driver imports the project's module, uses the
function or class as its documentation or its callers do, and runs it on the emulated device. On the host the
drivers that raise run through, except where the bug is one of dtypes alone (marked "also on the host"). The drivers
stand in [benchmarks/gallery/entries](../benchmarks/gallery/entries); they hold none of the projects' code.

```sh
python benchmarks/gallery CHECKOUTS --fetch
```

brings the projects into the folder CHECKOUTS (each repository as `OWNER+NAME` at the commit, each package as
`PACKAGE-VERSION`) and runs all drivers, each in a process of its own. A run counts only if the row that devlint reports
was executed, and if the error came through that row, or the other row that the table names, with the message given
there. Libraries that a project imports but that the bug does not need may be missing: the drivers stand in for them.
Some need numpy, scipy, einops, opt_einsum, opt_einsum_fx, pyro-api, class_resolver, dataclasses_json, fastcore,
lightning_utilities and networkx.

`python benchmarks/gallery CHECKOUTS --find` asks devlint for the bugs: it reports every one with its default settings.

`python benchmarks/gallery CHECKOUTS --write` writes this page.

"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _row(number: int, slug: str, bug: Bug) -> str:
    version = bug.commit[:8] if "/" in bug.project else bug.commit
    shows = f"`` {_cell(bug.expected)} ``" if "`" in bug.expected else f"`{_cell(bug.expected)}`"
    if bug.raised_at and bug.raised_at != bug.row:
        shows += f" at row {bug.raised_at}"
    if bug.on_host_too:
        shows += " (also on the host)"
    driver = f"[{slug}](../benchmarks/gallery/entries/{slug}.py)"
    where = f"{_cell(bug.file)}:{bug.row}"
    if bug.link is not None:
        where = f"[{where}]({bug.link})"
    return f"| {number} | {bug.project} {version} | {where} | {bug.code} | {_cell(bug.what)} | {shows} | {driver} |\n"


def document() -> str:
    """Return the page."""
    bugs = [(path.stem, entry_at(path)) for path in entry_paths()]
    bugs.sort(key=lambda item: (item[1].project.lower(), item[1].file, item[1].row))
    lines = [_TOP.format(count=len(bugs), projects=len({bug.project for _, bug in bugs}))]
    lines.append(
        "| | project | where | code | what happens | what the run shows | driver |\n|---|---|---|---|---|---|---|\n"
    )
    lines += [_row(number, *bug) for number, bug in enumerate(bugs, 1)]
    return "".join(lines)
