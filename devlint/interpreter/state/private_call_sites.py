"""Which private code of a file only ever runs on the host."""

from __future__ import annotations

from collections import defaultdict

from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo, ModuleInfo
from devlint.interpreter.program.private_definitions import is_private_name


class PrivateCallSites:
    """Which private code of a file only ever runs on the host, as far as its calls have been run.

    A tensor that every call hands over from the host is none that somebody may have moved; nor is a module that lies
    there in every call.
    """

    def __init__(self, module: ModuleInfo | None = None) -> None:
        self._module = module
        self._calls: dict[tuple[FunctionInfo | ClassInfo, str], bool] = {}
        self._makers: dict[ClassInfo, set[ClassInfo | None]] = defaultdict(set)

    def concerns(self, name: str, module: ModuleInfo) -> bool:
        """Whether a definition of that name is one of the file's private ones."""
        return module is self._module and is_private_name(name)

    def add_call(self, key: tuple[FunctionInfo | ClassInfo, str], *, on_host: bool) -> None:
        """A call that handed over what belongs to the key from the host, or from elsewhere."""
        self._calls[key] = on_host and self._calls.get(key, True)

    def add_maker(self, info: ClassInfo, maker: ClassInfo | None) -> None:
        """An object of the class was made by code of another class, or by a function."""
        self._makers[info].add(maker)

    def takes(self, info: FunctionInfo, name: str) -> bool:
        """Whether the parameter is on the host in every call; the inputs of a module that stays there are."""
        return self._calls.get((info, name), False) or (info.owner is not None and self.keeps(info.owner))

    def keeps(self, info: ClassInfo) -> bool:
        """Whether the modules of a class are on the host in every call of their methods, or are parts of such only."""
        return self._keeps(info, frozenset())

    def _keeps(self, info: ClassInfo | None, asked: frozenset[ClassInfo]) -> bool:
        if info is None or info in asked:
            return False
        makers = self._makers[info]
        called = self._calls.get((info, "self"))
        return (
            called if called is not None else bool(makers) and all(self._keeps(one, asked | {info}) for one in makers)
        )
