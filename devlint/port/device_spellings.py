"""Texts that name CUDA devices (`"cuda"`, `"cuda:0"`, `f"cuda:{rank}"`), and the same texts for another device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.port.cuda_uses import LeftForHuman
from devlint.syntax.string_literals import string_value

_PLAIN: Final = re.compile(r"cuda(:\d+)?$")
_OPEN: Final = re.compile(r"cuda:(%[dsi]|\{\w*\})?$")
_QUOTES: Final = re.compile(r"[rRuU]?('''|\"\"\"|'|\")")


@dataclass(frozen=True, slots=True)
class DeviceSpelling:
    """A string literal that names a CUDA device: its quote, and what follows the word `cuda` in the source text.

    `is_open` tells that code adds the index to the text, and `is_formatted` that the literal is an f-string.
    """

    quote: str
    rest: str
    is_open: bool = False
    is_formatted: bool = False

    @property
    def is_current(self) -> bool:
        """Whether the text names the current device, without an index."""
        return not self.rest

    def text_for(self, type_text: str) -> str:
        """Return the source text of the same string for the device whose type `type_text` gives."""
        if self.is_current:
            return type_text
        if self.quote in type_text or "\\" in type_text:
            raise LeftForHuman("the quotes of the text do not admit the device")
        rest = self.rest if self.is_formatted else self.rest.replace("{", "{{").replace("}", "}}")
        return f"f{self.quote}{{{type_text}}}{rest}{self.quote}"


def device_spelling(node: cst.CSTNode) -> DeviceSpelling | None:
    """Return the spelling of a CUDA device in a string literal; None for any other literal."""
    match node:
        case cst.SimpleString(value=source):
            quote = _QUOTES.match(source)
            text = string_value(node)
            if quote is None or not isinstance(text, str) or not (_PLAIN.match(text) or _OPEN.match(text)):
                return None
            return DeviceSpelling(quote[1], text.removeprefix("cuda"), is_open=_OPEN.match(text) is not None)
        case cst.FormattedString(start=start, parts=[cst.FormattedStringText(value=text), second, *_] as parts):
            if start.lower() not in ("f'", 'f"') or not text.startswith("cuda:") or len(parts) > 2:
                return None
            if text != "cuda:" or not isinstance(second, cst.FormattedStringExpression):
                return None
            code = cst.Module(body=[]).code_for_node(second)
            return DeviceSpelling(start[1:], f":{code}", is_formatted=True)
    return None
