"""Measure how much of what ties code bases to CUDA `devlint port` moves to any accelerator, and what a rename would do.

    python benchmarks/portability.py FOLDER [--check] [--sample N] [--seed N]
    python benchmarks/portability.py edits FOLDER [--most 60] [--seed N]

FOLDER holds one checkout in each folder. For each, the script counts the uses of CUDA-only API (names of `torch.cuda`,
`.cuda()`, texts such as `"cuda:0"` and `"nccl"`), those that are ported, and those that are left, with the reasons.
The ported files must parse, and porting them again must change nothing. With `--check`, they are analysed too, which
takes minutes.

Beside this it counts what a rename by text does, as linters that match names do it: every `torch.cuda.NAME` with a
name that `torch.accelerator` or `torch.amp` has, replaced wherever the text stands. It counts as broken where, for
sure, the new name is called without an argument that it needs, asks for any accelerator and then uses CUDA, or raises
on a machine without an accelerator where the old name did not.

`--sample N` prints N edits drawn at random, in a line each. `edits` prints some with the code around them instead, for
reading: as JSON lines with the file, the row, the old and the new text of the use, and both texts of the code. `made`
are the lines elsewhere in the file that make the device.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import libcst as cst

from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.fixes.fix_context import FixContext
from devlint.fixes.torch_names import TorchNames
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.discovery import DiscoveredFile, Discovery
from devlint.linter.rule_listing import all_rule_metadata
from devlint.port.cuda_uses import CudaUse, Outcome
from devlint.port.port_context import PortOptions
from devlint.port.program_port import PortedProgram, port_program
from devlint.port.use_sites import SiteKind, UseSite, use_sites
from devlint.repair.document import Document
from devlint.semantics.accelerators import Kind, all_replacements
from devlint.syntax.index import index_source
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import decode_source

AROUND = 8
"""The number of lines that `edits` prints before and after the changed ones."""
MIN_PORTED = 85
"""The percentage of the uses with an equivalent, outside of guards, that must be ported."""
RENAMED = {
    one.name: one
    for one in all_replacements()
    if one.kind in (Kind.FUNCTION, Kind.DEVICE_TYPE) and one.by.startswith(("torch.accelerator.", "torch.amp."))
}
"""The names that a rename by text replaces."""
NAME = re.compile(r"\btorch\.cuda(?:\.\w+)+")


@dataclass
class CodeBase:
    """The figures of one code base."""

    name: str
    uses: list[CudaUse] = field(default_factory=list)
    renamed: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    changed: int = 0
    problems: list[str] = field(default_factory=list)

    def count(self, outcome: Outcome, *, with_equivalent: bool | None = None) -> int:
        """Return how many uses had an outcome."""
        wanted = [one for one in self.uses if one.outcome is outcome]
        return sum(with_equivalent in (None, one.has_equivalent) for one in wanted)

    @property
    def row(self) -> str:
        """The row of the table for this code base."""
        cells = [
            self.name,
            len(self.uses),
            self.count(Outcome.PORTED),
            self.count(Outcome.ON_PURPOSE, with_equivalent=True),
            self.count(Outcome.ON_PURPOSE, with_equivalent=False),
            self.count(Outcome.FOR_HUMAN),
            f"{self.share:.0f} %",
            self.renamed,
            sum(self.broken.values()),
        ]
        return "| " + " | ".join(map(str, cells)) + " |"

    @property
    def share(self) -> float:
        """The percentage of the uses with an equivalent, outside of guards, that are ported."""
        ported, left = self.count(Outcome.PORTED), self.count(Outcome.FOR_HUMAN)
        return 100 * ported / (ported + left) if ported + left else 100.0


def files_below(folder: Path) -> list[DiscoveredFile]:
    """Return the files of a code base."""
    settings = Resolver(list(all_rule_metadata()), Options(), cwd=folder, isolated=True).settings_for
    return list(Discovery(settings, lambda _: None).find([folder]))


def measure(folder: Path, *, checked: bool) -> CodeBase:
    """Return the figures of the code base in a folder."""
    files = files_below(folder)
    done = port_program(files, PortOptions(), checked=checked)
    found = CodeBase(folder.name, list(done.uses), changed=len(done.changed))
    found.problems += problems_of(files, done)
    for name, document in done.before.items():
        if not name.endswith(".ipynb"):
            rename_by_text(document, found)
    return found


def problems_of(files: Sequence[DiscoveredFile], done: PortedProgram) -> list[str]:
    """Return what is wrong with a port: files that do not parse, or that a second port changes."""
    again = port_program(files, PortOptions(), checked=False, texts=done.after)
    problems = [f"{name} does not parse: {why}" for name, why in again.unreadable.items() if name in done.after]
    return problems + [f"{name} is changed again" for name in again.changed]


@with_deep_stack
def rename_by_text(document: Document, found: CodeBase) -> None:
    """Count what a rename of names would change in a file, and what it would break."""
    try:
        index = index_source(decode_source(document.data, document.filename))
    except SourceError:
        return
    found.renamed += sum(one[0] in RENAMED for one in NAME.finditer(index.source.text))
    context = FixContext(index)
    sites = list(use_sites(context, TorchNames(context)))
    for site in sites:
        if site.kind is SiteKind.NAME and site.name in RENAMED and site.region.code(site.node) == site.name:
            why = broken_by_rename(site, sites)
            if why is not None:
                found.broken[why] += 1


def broken_by_rename(site: UseSite, sites: Sequence[UseSite]) -> str | None:
    """Return what breaks if the name at a place is replaced and nothing else; None where nothing surely does."""
    by = RENAMED[site.name]
    above = site.region.parent(site.node)
    is_call = isinstance(above, cst.Call) and above.func is site.node
    if by.kind is Kind.DEVICE_TYPE:
        return "is called without the device's type" if is_call and by.name.endswith(".autocast") else None
    holders = [one for one in site.region.ancestors(site.node) if isinstance(one, (cst.If, cst.IfExp))]
    if by.name == "torch.cuda.is_available" and holders:
        left = [one for one in sites if not (one.kind is SiteKind.NAME and one.name in RENAMED)]
        branch = holders[0].body
        if any(branch is one.node or branch in [*one.region.ancestors(one.node)] for one in left):
            return "asks for any accelerator, and then uses CUDA"
        return None
    if by.result_without is not None and not holders and is_call:
        return "raises where there is no accelerator"
    return None


@dataclass(frozen=True)
class ShownEdit:
    """One ported use with the code around it, before and after the port."""

    file: str
    row: int
    use: str
    by: str
    before: str
    after: str
    made: Sequence[str]


def edits_of(done: PortedProgram) -> list[ShownEdit]:
    """Return the ported uses of a program, each with the changed code that it is part of."""
    ported = [one for one in done.uses if one.outcome is Outcome.PORTED and one.region.cell is None]
    found = []
    for name in done.changed:
        before, after = (one[name].data.decode(errors="replace").splitlines() for one in (done.before, done.after))
        groups = list(difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(AROUND))
        for group in groups:
            first, last, start, end = group[0][1], group[-1][2], group[0][3], group[-1][4]
            made = [one for one in after if "current_accelerator(" in one and one not in after[start:end]]
            texts = "\n".join(before[first:last]), "\n".join(after[start:end])
            found += [
                ShownEdit(
                    name, one.region.start.row, one.text, one.note, *texts, [one for one in made if one not in before]
                )
                for one in ported
                if one.region.filename == name and first < one.region.start.row <= last
            ]
    return found


def print_edits(arguments: Sequence[str]) -> int:
    """Print edits drawn at random from the ports of the code bases in a folder, as JSON lines."""
    parser = argparse.ArgumentParser(prog="portability.py edits")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    found: list[ShownEdit] = []
    for folder in sorted(one for one in args.folder.iterdir() if one.is_dir()):
        found += edits_of(port_program(files_below(folder), PortOptions(), checked=False))
    for one in random.Random(args.seed).sample(found, min(args.most, len(found))):
        name = Path(one.file).resolve().relative_to(args.folder.resolve()).as_posix()
        print(json.dumps(asdict(one) | {"file": name}))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the code bases in a folder, print the table, and return 1 if a target is missed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["edits"]:
        return print_edits(given[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(given)
    print("| code base | uses | ported | in guards | no equivalent | for a human | share | renamed by text | broken |")
    print("|---|---|---|---|---|---|---|---|---|")
    total = CodeBase("all")
    for folder in sorted(one for one in args.folder.iterdir() if one.is_dir()):
        one = measure(folder, checked=args.check)
        if not one.uses:
            continue
        print(one.row, flush=True)
        total.uses += one.uses
        total.renamed += one.renamed
        total.broken += one.broken
        total.problems += one.problems
    print(total.row)
    for why, number in total.broken.most_common():
        print(f"broken by the rename: {number} x {why}")
    reasons = Counter(one.note for one in total.uses if one.outcome is Outcome.FOR_HUMAN)
    for why, number in reasons.most_common(12):
        print(f"for a human: {number} x {why}")
    ported = [one for one in total.uses if one.outcome is Outcome.PORTED]
    for one in random.Random(args.seed).sample(ported, min(args.sample, len(ported))):
        print(f"{one.region.filename}:{one.region.start.row}: {one.text} -> {one.note}")
    for problem in total.problems:
        print(f"problem: {problem}")
    return int(bool(total.problems) or total.share < MIN_PORTED)


if __name__ == "__main__":
    sys.exit(main())
