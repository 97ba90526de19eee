"""Names that a program computes: whether code of a file may reach functions or methods of the program by them."""

from __future__ import annotations

import re
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program

_COMPUTED: Final = re.compile(
    r"(?<![\w.])(?:getattr\((?![^()]*,\s*[\"']\w+[\"']\s*[,)])|(?<!def )(?:globals|locals|vars|eval|exec)\()"
    r"|(?<!format\(\*\*self\.)__dict__(?!\[\s*[\"']\w+[\"']\s*\])"
)
"""The ways to reach a definition by a name that the program computes."""
_ARGUMENT: Final = re.compile(r"\s*(\w+)(?:\.\w+)*\s*[,)]")
"""The dotted name that `getattr` or `vars` is given, with the first word of it."""
_OWNER: Final = re.compile(r"(?<![\w.\])])(\w+)(?:\.\w+)*\.\Z")
"""The dotted name of which `__dict__` is read, with the first word of it."""
_LONGEST_NAME: Final = 200
"""The number of characters before `__dict__` in which its owner's name is looked for."""
_SEARCHED: Final = re.compile(r"\s*(?:\[|\.(?:get|items|values|pop)\()")
"""What follows a dict in which code looks for a name."""
_NO_OBJECT: Final = re.compile(r"(?:globals|locals|eval|exec)\(")
"""The ways that no object is given to."""
_CALL: Final = re.compile(r"[\w.]+\(")
_MAKES_MODULES: Final = re.compile(
    r"import_module|__import__|\bmodules\b|getmodule|module_from_spec|load_(?:module|source)"
)
"""Parts of the calls that return a module."""
_OPTIONS_READER: Final = re.compile(r"\.parse_(?:known_)?args\(")


def computes_names(program: Program, module: ModuleInfo, *, of_methods: bool, within: bool) -> bool:
    """Return whether code of a file may reach definitions of the program by a name that it computes.

    `of_methods` asks for methods of objects, else for what is defined at module level. `within` is true for a file that
    holds them itself: `getattr(self, name)` reaches the methods of a class from the file of that class. What a library
    or the parsed options of a command line have under some name is not of the program.
    """
    text = module.source.text
    return any(
        _may_reach(program, module, text, found, of_methods=of_methods, within=within)
        for found in _COMPUTED.finditer(text)
    )


def is_in_definition(module: ModuleInfo, position: int) -> bool:
    """Return whether a position in the text of a file is in a function or class, whose local names are its own."""
    unit = module.index.statement_at(module.source.text.count("\n", 0, position) + 1)
    return unit is not None and unit.kind in ("function", "class")


def _may_reach(
    program: Program, module: ModuleInfo, text: str, found: re.Match[str], *, of_methods: bool, within: bool
) -> bool:
    """Return whether an object from which a file reads a computed name may have a definition of the program."""
    way = found[0]
    if way == "locals(" and is_in_definition(module, found.start()):
        return False
    if _NO_OBJECT.match(way):
        return True
    given = (
        _OWNER.search(text[max(0, found.start() - _LONGEST_NAME) : found.start()])
        if way == "__dict__"
        else _ARGUMENT.match(text, found.end())
    )
    if given is None:
        return True
    root = given[1]
    if root == "self" and way != "getattr(" and "__class__" not in given[0]:
        # What an object keeps has no methods of the program in its dict, and is a module only where that is searched.
        return _SEARCHED.match(text, max(found.end(), given.end())) is not None
    if root == "self" and way == "getattr(":
        return of_methods and within
    if _is_of_library(program, module, root):
        return False
    if way == "getattr(" and of_methods:
        return True
    made = re.findall(rf"^[ \t]*{re.escape(root)}(?:[ \t]*,[ \t]*\w+)?[ \t]*=(?!=)[ \t]*([^\n]*)", text, re.MULTILINE)
    reads_options = [_OPTIONS_READER.search(one) is not None for one in made]
    if of_methods:
        return not made or not all(reads_options)
    return not made or not all(known or _makes_no_module(one) for known, one in zip(reads_options, made, strict=True))


def _is_of_library(program: Program, module: ModuleInfo, name: str) -> bool:
    """Return whether a file imports a name from a library, every time that it imports it."""
    bindings = [one for unit in module.index.statements for one in unit.imports if one.name == name]
    return bool(bindings) and all(program.resolve(module, one.module, one.level) is None for one in bindings)


def _makes_no_module(value: str) -> bool:
    """Return whether the text of an assigned value is a call that returns no module."""
    return bool(_CALL.match(value)) and not _MAKES_MODULES.search(value)
