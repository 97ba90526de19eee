"""The click group of the commands of devlint.

Each command is imported when it is first used, and `check` is the default command.
"""

from __future__ import annotations

import importlib
from difflib import get_close_matches
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from devlint.version import __version__

_DEFAULT = "check"
"""The command that runs if the arguments name none."""
_COMMANDS = {
    "check": "devlint.cli.check_command:check",
    "clean": "devlint.cli.clean_command:clean",
    "confirm": "devlint.cli.confirm_command:confirm",
    "merge": "devlint.cli.merge_command:merge",
    "port": "devlint.cli.port_command:port",
    "rule": "devlint.cli.rule_command:rule",
    "run": "devlint.cli.run_command:run",
    "server": "devlint.server.server_command:server",
}
"""The module and the function of each command."""
_OTHER_NAMES = {"lint": "check", "lsp": "server", "language-server": "server", "fix": "check --fix"}
"""What other tools call a command, and what it is here."""
_OWN_OPTIONS = frozenset({"-h", "--help", "-V", "--version"})
"""The options of `devlint` itself; all others belong to a command."""


class _Commands(click.Group):
    """A click group that imports commands on demand, and passes a command line without a command to the default one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands of devlint."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command with a name, or return None if there is no such command."""
        if cmd_name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return shell completions for the first argument: names of commands, and arguments of the default command."""
        default = self.get_command(ctx, _DEFAULT)
        assert default is not None
        default_context = default.make_context(_DEFAULT, [], parent=ctx, resilient_parsing=True)
        offered = [*super().shell_complete(ctx, incomplete), *default.shell_complete(default_context, incomplete)]
        paths = [] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]
        return [*{item.value: item for item in offered}.values(), *paths]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, after inserting the name of the default command if the line names no command.

        A first word that is no path but nearly a command is an error, and nothing is checked.
        """
        if ctx.resilient_parsing and not args:
            # The shell completes the first argument: a command, or an argument of the default command.
            return super().parse_args(ctx, args)
        if args and (meant := _meant_command(args[0])) is not None:
            raise click.UsageError(f"{args[0]} is neither a path nor a command (did you mean `devlint {meant}`?)", ctx)
        named = bool(args) and (args[0] in _COMMANDS or args[0] in _OWN_OPTIONS)
        return super().parse_args(ctx, args if named else [_DEFAULT, *args])


def _meant_command(word: str) -> str | None:
    """Return the command that the first word of a command line probably means.

    Returns None if the word is a command or an option, names a path, or is like no command.
    """
    if word in _COMMANDS or not word.replace("-", "").isalpha() or word.startswith("-") or Path(word).exists():
        return None
    close = get_close_matches(word, _COMMANDS, n=1, cutoff=0.75)
    return _OTHER_NAMES.get(word) or (close[0] if close else None)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def devlint() -> None:
    """Find device-placement and dtype bugs in PyTorch code, without running it.

    `devlint PATH...` is short for `devlint check PATH...`. Without a path, devlint checks the current directory. If a
    path has the name of a command, write ./NAME. Exit status: 0 nothing found, 1 something found, 2 devlint could not
    do its work.
    """
