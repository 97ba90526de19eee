"""Run the drivers of the gallery: `python benchmarks/gallery CHECKOUTS [SLUG...]`; `--write` writes docs/gallery.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gallery_bug import entry_at, entry_paths
from gallery_document import PAGE, document
from gallery_fetch import fetch
from gallery_find import not_reported
from gallery_run import trouble


def main() -> int:
    """Run the drivers, say what each shows, and return 1 if one does not show its bug."""
    parser = argparse.ArgumentParser(prog="gallery", description=__doc__)
    parser.add_argument("checkouts", type=Path, help="folder with OWNER+NAME and PACKAGE-VERSION")
    parser.add_argument("slugs", nargs="*", help="names of entries; all if none is given")
    parser.add_argument("--fetch", action="store_true", help="first clone or download the projects that are missing")
    parser.add_argument("--find", action="store_true", help="ask devlint for the bugs; do not run the drivers")
    parser.add_argument("--write", action="store_true", help="write docs/gallery.md")
    options = parser.parse_args()
    paths = [path for path in entry_paths() if not options.slugs or path.stem in options.slugs]
    if options.fetch:
        options.checkouts.mkdir(parents=True, exist_ok=True)
        for path in paths:
            fetch(entry_at(path), options.checkouts)
    if options.find:
        missing = not_reported(map(entry_at, paths), options.checkouts)
        for bug in missing:
            print(f"not reported: {bug.project} {bug.file}:{bug.row} {bug.code}")
        print(f"{len(paths) - len(missing)} of {len(paths)} reported")
        return min(len(missing), 1)
    failed = 0
    for path in paths:
        bug = entry_at(path)
        said = trouble(bug, path, options.checkouts)
        failed += bool(said)
        print(f"{'FAILS' if said else 'shown'} {path.stem}: {said or bug.expected}", flush=True)
    print(f"{len(paths) - failed} of {len(paths)} shown")
    if options.write:
        PAGE.write_text(document(), encoding="utf-8")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
