"""The annotations of values that are no tensors and hold none."""

from __future__ import annotations

import re
from typing import Final

PLAIN_ANNOTATION: Final = re.compile(
    r"(?:(?:bool|float|int|str|None|Optional|Union|Tuple|List|Sequence|tuple|list|typing)\b|[\s\[\].,|'\"])+"
)
"""An annotation of numbers, texts and containers of those."""
