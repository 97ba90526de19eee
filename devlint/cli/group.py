"""The commands, each imported only when it is needed; `check` is meant where none is named."""

from __future__ import annotations

import importlib

import click
from click.shell_completion import CompletionItem

from devlint.version import __version__

_DEFAULT = "check"
_COMMANDS = {
    "check": "devlint.cli.check:check",
    "rule": "devlint.cli.rule:rule",
    "run": "devlint.runtime.command:run",
    "server": "devlint.server.server_command:server",
}
_OWN_OPTIONS = frozenset({"-h", "--help", "--version"})


class _Commands(click.Group):
    """Looks a command up by name; arguments that begin with anything else are those of the default command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        default = self.get_command(ctx, _DEFAULT)
        assert default is not None
        begun = default.make_context(_DEFAULT, [], parent=ctx, resilient_parsing=True)
        offered = [*super().shell_complete(ctx, incomplete), *default.shell_complete(begun, incomplete)]
        paths = [] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]
        return [*{item.value: item for item in offered}.values(), *paths]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and not args:
            # The shell asks what may come first: a command, or what the default command takes.
            return super().parse_args(ctx, args)
        named = bool(args) and (args[0] in _COMMANDS or args[0] in _OWN_OPTIONS)
        return super().parse_args(ctx, args if named else [_DEFAULT, *args])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
def devlint() -> None:
    """Find device-placement and dtype bugs in PyTorch code, without running it.

    `devlint PATH...` is short for `devlint check PATH...`, and with no path the current directory is checked. A path
    that has the name of a command is given as ./NAME. Exit status: 0 nothing found, 1 something found, 2 devlint could
    not do its work.
    """
