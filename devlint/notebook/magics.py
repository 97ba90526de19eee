"""The cell magics `%%devlint` and `%%devlint_run` of IPython and Jupyter."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Iterable, Sequence
from importlib import import_module

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from devlint.installation import install_command
from devlint.notebook.nested_run import run_under_number
from devlint.notebook.session_cells import ChosenRules, check_last_cell
from devlint.runtime.backends import BACKENDS


def _device_count(text: str) -> int:
    """Return a number of devices from the text of an option."""
    count = int(text)
    if not 1 <= count <= 64:
        raise ArgumentTypeError("a number from 1 to 64")
    return count


@magics_class
class DevlintMagics(Magics):
    """The magics of devlint in one session."""

    @magic_arguments()
    @argument("--no-run", action="store_true", help="Check the cell, and do not run it.")
    @argument("--select", action="append", metavar="RULES", help="Rules to turn on, as on the command line.")
    @argument("--ignore", action="append", metavar="RULES", help="Rules to turn off.")
    @argument("--extend-select", action="append", metavar="RULES", help="Rules to turn on in addition.")
    @cell_magic
    def devlint(self, line: str, cell: str) -> None:
        """Check the cell together with the cells that ran before it, then run it."""
        options = parse_argstring(self.devlint, line)
        cells = [*self._earlier_cells(cell), f"%%devlint {line}\n{cell}"]
        chosen = ChosenRules(_rules(options.select), _rules(options.ignore), _rules(options.extend_select))
        _write(check_last_cell(cells, chosen))
        if not options.no_run:
            run_under_number(self.shell, cell)

    @magic_arguments()
    @argument("--device", choices=sorted(BACKENDS), default="cuda", help="The kind of accelerator to emulate.")
    @argument("--devices", type=_device_count, default=1, help="How many of them.")
    @cell_magic
    def devlint_run(self, line: str, cell: str) -> None:
        """Run the cell on an emulated accelerator, and report what was moved, waited for and wrong.

        The tensors that it leaves on the accelerator belong to the emulation, which ends with the cell.
        """
        options = parse_argstring(self.devlint_run, line)
        try:
            # torch is an optional dependency, and slow to import.
            emulated_run = import_module("devlint.notebook.emulated_cell")
        except ModuleNotFoundError as missing:
            if missing.name != "torch":
                raise
            raise UsageError(f"%%devlint_run needs torch: {install_command('runtime')}") from None
        _write(emulated_run.run_cell(self.shell, cell, options.device, options.devices))

    def _earlier_cells(self, cell: str) -> list[str]:
        """Return the texts of the cells that ran before a cell, by their numbers in the session."""
        texts = list(self.shell.history_manager.input_hist_raw[1:])
        return texts[:-1] if texts and texts[-1].rstrip().endswith(cell.rstrip()) else texts


def _rules(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the rules that lists separated by commas name, None if there are no lists."""
    return tuple(one.strip() for text in given for one in text.split(",")) if given else None


def _write(parts: Iterable[str]) -> None:
    """Write the parts of a report to the output of the cell."""
    for part in parts:
        sys.stdout.write(part)
    sys.stdout.flush()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics in a session: IPython calls this for `%load_ext devlint`."""
    shell.register_magics(DevlintMagics)
